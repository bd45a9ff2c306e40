package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/verdict"
)

// topics are what list lists.
var topics = []struct {
	name, doc string
	list      func() [][2]string
}{
	{"actions", "what a phase, an installation or the setup can do", func() [][2]string { return kinds(vocabulary.Actions) }},
	{"probes", "what can be sampled", func() [][2]string { return kinds(vocabulary.Probes) }},
	{"phases", "kinds of phases", func() (out [][2]string) {
		for _, k := range dsl.PhaseKinds {
			out = append(out, [2]string{k.Name, k.Doc})
		}
		return out
	}},
	{"functions", "what expressions can call", func() (out [][2]string) {
		for _, f := range verdict.Functions() {
			out = append(out, [2]string{f.Usage, f.Doc})
		}
		return out
	}},
	{"metrics", "builtin metrics; ROLE is sut, load, backends, control, or what a start names", func() (out [][2]string) {
		for _, d := range measure.Catalogue() {
			doc := d.Doc
			if d.Better != "" {
				doc += " (" + string(d.Better) + " is better)"
			}
			out = append(out, [2]string{d.Name, doc})
		}
		return out
	}},
}

func kinds(all []dsl.Kind) (out [][2]string) {
	for _, k := range all {
		doc, _, _ := strings.Cut(k.Doc, "\n")
		if k.Later != "" {
			doc += " [later: " + k.Later + "]"
		}
		out = append(out, [2]string{k.Name, doc})
	}
	return out
}

func (p *program) listCommand() *cobra.Command {
	var names []string
	for _, t := range topics {
		names = append(names, t.name)
	}
	return &cobra.Command{
		Use:       "list [" + strings.Join(names, "|") + "]",
		Short:     "List the words of the plan language",
		ValidArgs: names,
		Args:      cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && !slices.Contains(names, args[0]) {
				return fmt.Errorf("nothing called %q to list; %s", args[0], dsl.Suggest(args[0], names, "there are"))
			}
			w := tabwriter.NewWriter(p.out, 0, 8, 2, ' ', 0)
			for _, t := range topics {
				if len(args) == 1 && args[0] != t.name {
					continue
				}
				if len(args) == 0 {
					fmt.Fprintf(w, "%s: %s\n", strings.ToUpper(t.name), t.doc)
				}
				for _, row := range t.list() {
					fmt.Fprintf(w, "  %s\t%s\n", row[0], row[1])
				}
				if len(args) == 0 {
					fmt.Fprintln(w)
				}
			}
			return w.Flush()
		},
	}
}

func (p *program) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain PATH",
		Short: "Explain a word of the plan language: load, load.pool, scenarios.phases, p99_ms, floor_to",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := dsl.Explain(vocabulary, args[0])
			if err == nil {
				_, err = fmt.Fprint(p.out, text)
				return err
			}
			if more := explainMore(args[0]); more != "" {
				_, err = fmt.Fprint(p.out, more)
			}
			return err
		},
	}
}

// explainMore explains functions and metrics.
func explainMore(name string) string {
	for _, f := range verdict.Functions() {
		if f.Name == strings.TrimSuffix(name, "()") {
			return fmt.Sprintf("%s\n  %s\n  example: %s = %s\n", f.Usage, f.Doc, f.Example, f.Result)
		}
	}
	for _, d := range measure.Catalogue() {
		pattern, role := strings.CutPrefix(d.Name, "ROLE_")
		if d.Name == name || role && strings.HasSuffix(name, "_"+pattern) {
			better := "neither direction is better"
			if d.Better != "" {
				better = string(d.Better) + " is better"
			}
			return fmt.Sprintf("%s  %s\n  %s; %s; of several runs the %s\n", name, d.Unit, d.Doc, better, d.Across)
		}
	}
	return ""
}

func (p *program) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of plans, for editors",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := p.out.Write(dsl.Schema(vocabulary))
			return err
		},
	}
}
