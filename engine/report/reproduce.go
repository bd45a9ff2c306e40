package report

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// reproduce says how to run it again, judge it, render it, and compare it.
func reproduce(b *builder) ([]Section, error) {
	dir, latest := shellQuote(b.opt.Dir), shellQuote(b.latest())
	s := Section{Title: "How to reproduce", Blocks: []Block{
		Paragraph{text("Run it again", b.with(), " (", mono("github.com/planrun/planrun"), "):")},
		Code{Lines: []string{b.command()}},
	}}
	if said := b.overrides(); len(said) > 0 {
		s.Blocks = append(s.Blocks, Paragraph{text("The command line says otherwise than the plan's file: ", join(said, ", "), ". The result set's own plan has that in it, so that this runs the same again:")},
			Code{Lines: []string{strings.Join(append([]string{"planrun", shellQuote(filepath.Join(b.opt.Dir, "plan.yaml"))}, b.flags("allow", "gate", "results")...), " ")}})
	}
	if seeds := b.seeds(); len(seeds) > 0 {
		s.Blocks = append(s.Blocks, Paragraph{text("Its random order has another seed then; that of this run comes again if the plan says it:")}, List{seeds})
	}
	s.Blocks = append(s.Blocks,
		Paragraph{text("Then set the new result set beside this one, as columns of the new report or as a list of every difference:")},
		Code{Lines: []string{"planrun report " + latest + " --beside " + dir, "planrun diff " + dir + " " + latest}},
		Paragraph{text("From what was recorded, without running anything: this report again, and the verdicts again (also with edited ones):")},
		Code{Lines: []string{"planrun report " + dir, "planrun judge " + dir}},
		Paragraph{text("The plan as it was run, with presets, settings, repeats and the choice of cells resolved, is ", mono("plan.yaml"), " in the result set, its sources are in ", mono("sources/"), "; rendered files, command lines and logs are in ", mono("installs/"), ".")},
	)
	out := []Section{s}
	if b.in.Plan != "" { // Markdown is read beside the file itself
		lines := strings.Split(strings.TrimRight(b.in.Plan, "\n"), "\n")
		out = append(out, Section{Title: "The plan", Pictures: true, Blocks: []Block{Code{Title: "plan.yaml, as it was run: " + plural.Of(len(lines), "line"), Lines: lines}}})
	}
	return out, nil
}

// rerun says in the findings how to run it again.
func (b *builder) rerun() []Text {
	return []Text{text(mono(b.command()), b.with(), ".")}
}

// command is the command line that ran this plan. It does not say where its result set went, which is taken.
func (b *builder) command() string {
	command := []string{"planrun", b.opt.Plan}
	if b.in.Environment != nil && len(b.in.Environment.Command) > 0 {
		command, _ = b.in.Environment.Without("out")
	}
	return shellQuoted(command)
}

// overrides are what the command line said otherwise than the plan, each as it was written.
func (b *builder) overrides() (said []Text) {
	for _, flag := range b.flags("preset", "set", "repeats", "only", "skip") {
		said = append(said, text(mono(flag)))
	}
	return said
}

// flags are those of the command line that have one of the names, with their values.
func (b *builder) flags(names ...string) (out []string) {
	if b.in.Environment == nil {
		return nil
	}
	for _, a := range b.in.Environment.Arguments() {
		if slices.Contains(names, a.Flag) {
			out = append(out, shellQuoted(a.Words))
		}
	}
	return out
}

// latest is the result set that the command makes when it is run again.
func (b *builder) latest() string {
	root := record.Root
	if b.in.Environment != nil && b.in.Environment.Option("results") != "" {
		root = b.in.Environment.Option("results")
	}
	return filepath.Join(root, record.Latest)
}

// with says with which planrun.
func (b *builder) with() string {
	if b.in.Environment == nil || b.in.Environment.Planrun == "" {
		return ""
	}
	return ", with planrun " + oneLine(b.in.Environment.Planrun)
}

// seeds are those of stages in random order.
func (b *builder) seeds() (out []Text) {
	seen := map[string]bool{}
	for _, s := range b.res.Stages {
		if s.Seed != 0 && !seen[s.Name] {
			seen[s.Name] = true
			out = append(out, text("stage "+oneLine(s.Name)+": ", mono(fmt.Sprintf("seed: %d", s.Seed))))
		}
	}
	return out
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// shellQuote makes s one word of a shell.
func shellQuote(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// shellQuoted makes a line of a shell of words.
func shellQuoted(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellQuote(word)
	}
	return strings.Join(quoted, " ")
}
