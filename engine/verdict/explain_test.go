package verdict

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

func TestExplain(t *testing.T) {
	c, d := newCompiler(t)
	at := coordOf(t, c.ix, hap)
	r := mustCompile(t, c, `p99_ms < 5 && p99_ms <= 1.5 * scenario("latency").p99_clean_ms && runs.req_per_s.min() > target("ours").req_per_s / 2 && scenario == "churn" && ratio(req_per_s, target("ours").req_per_s) > 0.5 && params.token == "a"`,
		AtJudge, at).Eval(context.Background(), Values{At: at, Data: d})
	mine := run(d, "fixed", "churn", "haproxy", "", 0).Metrics.(Numbers)["req_per_s"]
	ours := run(d, "fixed", "churn", "ours", "", 1).Metrics.(Numbers)["req_per_s"]
	want := fmt.Sprintf(`p99_ms = 4, scenario("latency").p99_clean_ms: no data: fixed/latency/haproxy has no run, runs.req_per_s.min() = %v, target("ours").req_per_s = %v, scenario = "churn", ratio(req_per_s, target("ours").req_per_s) = %.4g, req_per_s = %v, params.token = (secret)`,
		mine, ours, (mine+1000)/ours, mine+1000)
	if r.Explain() != want {
		t.Errorf("got  %s\nwant %s", r.Explain(), want)
	}
	var reads []string
	for _, x := range r.Reads {
		reads = append(reads, fmt.Sprintf("%s %s %d", x.Cell, x.Metric, len(x.runs)))
	}
	if want := []string{"fixed/churn/haproxy p99_ms 3", "fixed/latency/haproxy p99_clean_ms 0", "fixed/churn/haproxy req_per_s 3", "fixed/churn/ours req_per_s 3"}; !slices.Equal(reads, want) {
		t.Errorf("read %v, want %v", reads, want)
	}
}

func TestBroke(t *testing.T) {
	c, d := newCompiler(t)
	at := coordOf(t, c.ix, slow)
	for text, want := range map[string]string{
		`phase("attack").series("sut_rss_mib").max() < 150`:                             `phase("attack").series("sut_rss_mib") first broke it at 25.5 s with 151`,
		`150 >= phase("attack").series("sut_rss_mib").max() && failed == 0`:             `phase("attack").series("sut_rss_mib") first broke it at 25.5 s with 151`,
		`phase("attack").series("sut_rss_mib").after(40.5).max() < 50`:                  `phase("attack").series("sut_rss_mib").after(40.5) first broke it at 40.5 s with 180`,
		`failed == 0 && phase("attack").series("sut_rss_mib").all(x, x < 150 && x > 1)`: `phase("attack").series("sut_rss_mib") first broke it at 25.5 s with 151`,
		`!phase("attack").series("sut_rss_mib").exists(x, x > 150)`:                     "",
		`events("exit").size() == 0`:                                                    `first of events("exit") at 12 s`,
		`failed > 0`:                                                                    "",
		`phase("attack").series("sut_rss_mib").max() < 1500`:                            "",
		`phase("attack").series("sut_rss_mib").min() > 100 && events("oom") == []`:      `phase("attack").series("sut_rss_mib") first broke it at 0.5 s with 100`,
	} {
		r := mustCompile(t, c, text, AtJudge, at).Eval(context.Background(), Values{At: at, Data: d})
		if r.Broke != want || r.Err != nil {
			t.Errorf("%s: %q %v, want %q", text, r.Broke, r.Err, want)
		}
	}
}
