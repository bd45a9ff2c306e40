package report

import (
	"strings"
	"testing"
)

// What to run again names the directories that the command line named.
func TestReproduceNamesTheResults(t *testing.T) {
	for _, c := range []struct {
		command string
		latest  string
	}{
		{"planrun p.yaml", "results/latest"},
		{"planrun p.yaml --results ../sets", "../sets/latest"},
		{"planrun p.yaml --results=/var/sets --preset smoke", "/var/sets/latest"},
		{"planrun p.yaml --out here", "results/latest"},
	} {
		f := newFixture()
		f.in.Environment.Command = strings.Fields(c.command)
		s, err := reproduce(newBuilder(f.in, Options{Dir: "old"}))
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, b := range s[0].Blocks {
			if code, ok := b.(Code); ok {
				lines = append(lines, code.Lines...)
			}
		}
		again, _, _ := strings.Cut(c.command, " --out")
		want := []string{again}
		if strings.Contains(c.command, "--preset") {
			want = append(want, "planrun old/plan.yaml")
		}
		want = append(want, "planrun report "+c.latest+" --beside old", "planrun diff old "+c.latest, "planrun report old", "planrun judge old")
		if strings.Join(lines, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %q, want %q", c.command, lines, want)
		}
	}
}

// What the command line said otherwise than the plan is named, and the plan of the result set runs the same without it.
func TestReproduceNamesTheOverrides(t *testing.T) {
	f := newFixture()
	f.in.Environment.Command = []string{"planrun", "p.yaml", "--preset", "smoke", "--repeats=3", "--set", "a=b c", "--allow", "example.org", "--results", "here", "--skip", "x/y", "--only", "s"}
	s, err := reproduce(newBuilder(f.in, Options{Dir: "old"}))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range s[0].Blocks {
		switch x := b.(type) {
		case Paragraph:
			got = append(got, terminal(x.Text))
		case Code:
			got = append(got, x.Lines...)
		}
	}
	for _, want := range []string{"The command line says otherwise than the plan's file: --preset smoke, --repeats=3, --set 'a=b c', --skip x/y, --only s.", "planrun old/plan.yaml --allow example.org"} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("it does not say %q:\n%s", want, strings.Join(got, "\n"))
		}
	}
}
