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
			want = append(want, "planrun old/plan.yaml --results=/var/sets")
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
	for _, want := range []string{"The command line says otherwise than the plan's file: --preset smoke, --repeats=3, --set 'a=b c', --skip x/y, --only s.", "planrun old/plan.yaml --allow example.org --results here"} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("it does not say %q:\n%s", want, strings.Join(got, "\n"))
		}
	}
}

// A value that looks like a flag, and what stands behind --, are no flags of the command line.
func TestReproduceReadsFlagsAsTheRunDid(t *testing.T) {
	for command, want := range map[string]string{
		"planrun p.yaml --skip --set=a":              "--skip --set=a",
		"planrun --out --set --only x p.yaml":        "--only x",
		"planrun --set a=1 -- --set=b.yaml":          "--set a=1",
		"planrun p.yaml --repeats 2 --repeats --set": "--repeats 2, --repeats --set",
	} {
		f := newFixture()
		f.in.Environment.Command = strings.Fields(command)
		b := newBuilder(f.in, Options{Dir: "old"})
		if got := terminal(join(b.overrides(), ", ")); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
