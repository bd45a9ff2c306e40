package main

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/verdict"
	"github.com/planrun/planrun/plans"
)

// A word is a row of a list.
type word struct{ name, doc string }

// topics are what list lists.
var topics = []struct {
	name, doc string
	list      func() []word
}{
	{"actions", "what a phase, an installation or the setup can do", func() []word { return kinds(vocabulary.Actions) }},
	{"probes", "what can be sampled; process and host always are", func() []word { return kinds(vocabulary.Probes) }},
	{"phases", "kinds of phases", phaseKinds},
	{"functions", "what expressions can call", functions},
	{"metrics", "what expressions and tables can read of every run; ROLE is sut, load, backends, control, or what a start action names", metrics},
	{"texts", "what tables can show beside metrics, in words", texts},
	{"plans", "the plans that planrun ships, and what they include", shippedFiles},
}

func kinds(all []dsl.Kind) (out []word) {
	for _, k := range all {
		doc := firstSentence(k.Doc)
		if k.Later != "" {
			doc += " [not in this build: " + k.Later + "]"
		}
		out = append(out, word{k.Name, doc})
	}
	return out
}

func phaseKinds() (out []word) {
	for _, k := range dsl.PhaseKinds {
		out = append(out, word{k.Name, k.Doc})
	}
	return out
}

func functions() (out []word) {
	for _, f := range verdict.Functions() {
		out = append(out, word{f.Usage, f.Doc})
	}
	return out
}

func metrics() (out []word) {
	for _, d := range measure.Catalogue() {
		doc := d.Doc
		if d.Better != "" {
			doc += " (" + string(d.Better) + " is better)"
		}
		out = append(out, word{d.Name, doc})
	}
	return out
}

func texts() (out []word) {
	for _, t := range measure.Texts {
		out = append(out, word{t.Name, t.Doc})
	}
	return out
}

// shippedFiles lists the embedded plans, targets and includes with what they are about.
func shippedFiles() (out []word) {
	err := fs.WalkDir(plans.FS, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !isPlan(path) {
			return err
		}
		b, err := fs.ReadFile(plans.FS, path)
		if err != nil {
			return err
		}
		out = append(out, word{"plans/" + path, about(string(b))})
		return nil
	})
	if err != nil { // they are part of this binary
		panic(err)
	}
	slices.SortStableFunc(out, func(a, b word) int { return strings.Count(a.name, "/") - strings.Count(b.name, "/") })
	return out
}

// about is what a file of a plan says of itself: its `about`, else the comment above it.
func about(text string) string {
	comment := ""
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "about:"); ok {
			return strings.Trim(strings.TrimSpace(rest), `"`)
		}
		if rest, ok := strings.CutPrefix(line, "# "); ok && comment == "" && !strings.Contains(rest, "$schema") {
			comment = strings.TrimSpace(rest)
		}
	}
	return comment
}

// firstSentence is a text up to its first full stop, on one line.
func firstSentence(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if before, _, ok := strings.Cut(s, ". "); ok {
		return before + "."
	}
	return s
}

func (p *program) listCommand() *cobra.Command {
	var names []string
	for _, t := range topics {
		names = append(names, t.name)
	}
	return &cobra.Command{
		Use:       "list [" + strings.Join(names, "|") + "]",
		Short:     "List the words of the plan language, and the shipped plans",
		Example:   "  planrun list\n  planrun list actions",
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return fmt.Errorf("one list at a time: there is %q beside %q", args[1], args[0])
			case len(args) == 0:
				return overview(p.out)
			}
			for _, t := range topics {
				if t.name == args[0] {
					return table(p.out, t.list())
				}
			}
			return fmt.Errorf("nothing called %q to list; %s", args[0], dsl.Suggest(args[0], names, "there are"))
		},
	}
}

func table(out io.Writer, rows []word) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintf(w, "%s\t%s\n", row.name, row.doc)
	}
	return w.Flush()
}

// overview names everything, and says where there is more.
func overview(w io.Writer) error {
	for _, t := range topics {
		var names []string
		for _, row := range t.list() {
			name := row.name
			if strings.Contains(row.doc, "[not in this build") {
				name += "*"
			}
			names = append(names, name)
		}
		sep := ", "
		if t.name == "functions" {
			sep = "  "
		}
		fmt.Fprintf(w, "%s: %s\n%s\n", strings.ToUpper(t.name), t.doc, wrap(names, sep, 100))
	}
	_, err := fmt.Fprintf(w, "* is in the language, but not in this build.\nplanrun list TOPIC says what each of a topic does; planrun explain NAME documents one, planrun explain load.pool a key of it.\n")
	return err
}

// wrap joins names on indented lines of a width.
func wrap(names []string, sep string, width int) string {
	var b strings.Builder
	line := ""
	for i, n := range names {
		if i < len(names)-1 {
			n += strings.TrimRight(sep, " ")
		}
		if line != "" && len(line)+len(sep)+len(n) > width {
			b.WriteString("  " + line + "\n")
			line = ""
		}
		if line != "" {
			line += strings.Repeat(" ", len(sep)-len(strings.TrimRight(sep, " ")))
		}
		line += n
	}
	b.WriteString("  " + line + "\n")
	return b.String()
}
