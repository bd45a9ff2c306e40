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
		want := []string{again, "planrun report " + c.latest + " --beside old", "planrun diff old " + c.latest, "planrun report old", "planrun judge old"}
		if strings.Join(lines, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %q, want %q", c.command, lines, want)
		}
	}
}
