package report

import (
	"strings"
	"testing"

	"github.com/planrun/planrun/engine/record"
)

// That a target is planrun's own is said right behind how the plan ended, in the summary too, by what it is and not by its name.
func TestTargetsOfPlanrunsOwn(t *testing.T) {
	f := newFixture()
	f.cell(cellSpec{scenario: "s", target: "nginx", rates: around(1000)})
	f.cell(cellSpec{scenario: "s", target: "swift", rates: around(2000)})
	f.in.Results.Targets = []record.Target{{Name: "nginx"}, {Name: "swift", Own: "proxy"}, {Name: "swi", Own: "relay"}}
	groups, err := newBuilder(f.in, Options{}).groupsOfFindings()
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for _, g := range groups {
		for i, item := range g.items {
			if strings.Contains(plain(item), "planrun's own") {
				if said++; i != 1 || g.title != "" || plain(item) != "swift is planrun's own proxy, built into the program that measured here." {
					t.Errorf("%s, %d: %s", g.title, i, plain(item))
				}
			}
		}
	}
	if said != 1 {
		t.Errorf("it is said %d times", said)
	}
	var b strings.Builder
	if err := Summary(&b, f.in, Options{}); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(b.String(), "\n"); lines[1] != "swift is planrun's own proxy, built into the program that measured here." {
		t.Errorf("the summary says it not behind the exit:\n%s", b.String())
	}
	b.Reset()
	if err := Write(&b, f.in, Options{}); err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{"| swift | - | planrun v0.1.0 (abc1234) | built into planrun |", "swift is planrun's own proxy and swi is planrun's own relay, built into the program that measured here."} {
		if !strings.Contains(words, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
}
