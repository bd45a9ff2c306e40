package export

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/planrun/planrun/engine/record"
)

// JUnit writes verdicts as tests; of the results it reads no cells. A verdict is a suite, a judgement of it a test, named by
// what it judged: a CI system then shows which verdict does not hold where. A CI job is red where planrun's exit code is not
// 0, and for no other reason:
//
//	pass                      a test that passed
//	fail                      a failure if it gates, else skipped
//	inconclusive              an error if it gates with `gate: true`, else skipped
//	error                     an error if it gates, else skipped
//	unsupported, not judged   skipped
//
// A skipped test says why, and what it would have been. The first suite is the plan: its test is an error if the exit code is
// another than 0 and no verdict says why (the harness failed, an interrupt, a gate that judged nothing). What a verdict rests
// on (expression, operands, runs) is the text of a failure, an error or a skip, because GitLab shows the text and not the
// message, and the output of a test that passed. The time of a test is that of the runs that it judged, in seconds; runs that
// several verdicts judge count in each.
func JUnit(w io.Writer, set *record.Set, res *record.Results) error {
	env, err := environment(set)
	if err != nil {
		return err
	}
	runs, err := timesOf(set)
	if err != nil {
		return err
	}
	properties := propertiesOf(res, env)
	var verdicts []*suite
	byName := map[string]*suite{}
	red := false
	for _, j := range res.Verdicts {
		s := byName[j.Verdict]
		if s == nil {
			s = newSuite(j.Verdict, env, properties)
			byName[j.Verdict] = s
			verdicts = append(verdicts, s)
		}
		t := testOf(res.Plan, j)
		red = red || t.Failure != nil || t.Error != nil
		s.add(t, runs.of(j.Coord))
	}
	plan := newSuite(res.Plan, env, properties)
	plan.add(planTest(res, red), runs.of(record.Coord{}))
	doc := &junit.Testsuites{Name: plain(res.Plan), Time: plan.Time}
	for i, s := range append([]*suite{plan}, verdicts...) {
		s.ID = i
		doc.AddSuite(s.Testsuite)
	}
	doc.Skipped = 0 // the schema of Jenkins' xUnit plugin has it in suites only
	b := bufio.NewWriter(w)
	_, err = b.WriteString(xml.Header)
	return wrote("junit", cmp.Or(err, doc.WriteXML(b), b.Flush()))
}

// A suite is a verdict in the making.
type suite struct {
	junit.Testsuite
	seconds float64
	names   map[string]int
}

func newSuite(name string, env *record.Environment, properties []junit.Property) *suite {
	s := &suite{Testsuite: junit.Testsuite{Name: plain(name), Hostname: plain(env.Hostname), Properties: &properties}, names: map[string]int{}}
	if !env.Start.IsZero() {
		s.SetTimestamp(env.Start.UTC())
	}
	return s
}

// add adds a test that took some seconds. Readers know tests by their names, so a name that was there gets a number.
func (s *suite) add(t junit.Testcase, seconds float64) {
	s.seconds += seconds
	s.Time, t.Time = milliseconds(s.seconds), milliseconds(seconds)
	if s.names[t.Name]++; s.names[t.Name] > 1 {
		t.Name = fmt.Sprintf("%s (%d)", t.Name, s.names[t.Name])
	}
	s.AddTestcase(t)
}

// milliseconds are seconds with three decimals.
func milliseconds(s float64) string { return strconv.FormatFloat(s, 'f', 3, 64) }

// A runTime is how long a run took.
type runTime struct {
	at      record.Coord
	seconds float64
}

// times are those of all runs, in seconds.
type times []runTime

func timesOf(set *record.Set) (out times, err error) {
	for r, err := range set.Runs() {
		if err != nil {
			return nil, err
		}
		out = append(out, runTime{r.Coord, r.Seconds})
	}
	return out, nil
}

// of adds up the runs of a coordinate, in which what is empty stands for all.
func (ts times) of(c record.Coord) (sum float64) {
	for _, t := range ts {
		if covers(c, t.at) {
			sum += t.seconds
		}
	}
	return sum
}

// covers reports whether a run belongs to what a coordinate names.
func covers(c, run record.Coord) bool {
	same := func(want, have string) bool { return want == "" || want == have }
	if !same(c.Scenario, run.Scenario) || !same(c.Target, run.Target) || !same(c.Stage, run.Stage) {
		return false
	}
	if c.Round != 0 && c.Round != run.Round || c.Repeat != 0 && c.Repeat != run.Repeat {
		return false
	}
	for _, a := range c.Matrix {
		if axis(run, a.Name) != a.Value {
			return false
		}
	}
	return true
}
