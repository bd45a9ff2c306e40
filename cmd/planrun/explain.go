package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/measure"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/verdict"
)

func (p *program) explainCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "explain [WORD]",
		Short: "Explain a word of the plan language: a kind, a key, a function or a metric",
		Long: `Explain a word of the plan language: a kind of action, probe or phase, a key at any depth (load.pool, scenarios.phases,
host.guards.send-lag), a function or a metric. Without a word it explains the top level of a plan.`,
		Example: `  planrun explain
  planrun explain load
  planrun explain load.pool
  planrun explain p99_ms
  planrun explain ratio
  planrun explain --reference`,
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return fmt.Errorf("--reference documents everything; leave %q out", args[0])
			case all:
				return writeReference(p.out)
			case len(args) > 1:
				return fmt.Errorf("one word at a time: there is %q beside %q", args[1], args[0])
			case len(args) == 0:
				args = []string{""}
			}
			return explain(p.out, args[0])
		},
	}
	c.Flags().BoolVar(&all, "reference", false, "print the reference page of the whole language, in Markdown")
	return c
}

// explain documents a word: of the language, else a function, a metric, or a text.
func explain(w io.Writer, name string) error {
	text, err := dsl.Explain(vocabulary, name)
	if err != nil {
		text = explainFunction(name) + explainMetric(name) + explainText(name)
	}
	if text != "" {
		_, err = fmt.Fprint(w, text)
		return err
	}
	var words []string
	for _, f := range verdict.Functions() {
		words = append(words, f.Name)
	}
	for _, d := range measure.Catalogue() {
		words = append(words, d.Name)
	}
	for _, t := range measure.Texts {
		words = append(words, t.Name)
	}
	if near := dsl.Suggest(name, words, ""); strings.HasPrefix(near, "did you mean") {
		return fmt.Errorf("nothing is called %q; %s", name, near)
	}
	if strings.Contains(err.Error(), "did you mean") || strings.Contains(name, ".") {
		return err
	}
	return fmt.Errorf("nothing is called %q; planrun list names everything", name)
}

func explainFunction(name string) (text string) {
	for _, f := range verdict.Functions() {
		if f.Name == strings.TrimSuffix(name, "()") {
			text += fmt.Sprintf("function %s\n\n  %s\n  example: %s gives %s\n", f.Usage, f.Doc, f.Example, f.Result)
		}
	}
	return text
}

func explainMetric(name string) string {
	for _, d := range measure.Catalogue() {
		pattern, role := strings.CutPrefix(d.Name, "ROLE_")
		if d.Name != name && (!role || !strings.HasSuffix(name, "_"+pattern)) {
			continue
		}
		unit := d.Unit
		if unit == "" {
			unit = "a plain number"
		}
		return fmt.Sprintf("metric %s: %s.\n\n  unit    %s\n  better  %s\n  of several runs the %s\n", name, d.Doc, unit, better(d), d.Across)
	}
	return ""
}

func explainText(name string) string {
	for _, t := range measure.Texts {
		if t.Name == name {
			return fmt.Sprintf("text %s: %s.\n\n  a table can show it; expressions cannot read it\n", name, t.Doc)
		}
	}
	return ""
}

func better(d series.Desc) string {
	if d.Better == "" {
		return "neither direction"
	}
	return string(d.Better)
}

func (p *program) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of plans, for editors",
		Long: `Print the JSON Schema of plans. An editor completes and documents a plan by it if the plan's first line is
# yaml-language-server: $schema=schema.json`,
		Example: "  planrun schema",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := p.out.Write(dsl.Schema(vocabulary))
			return err
		},
	}
}

func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("planrun %s takes no arguments; leave %q out", c.Name(), args[0])
	}
	return nil
}
