package report

import (
	"regexp"
	"strings"
)

// reproduce says how to run it again, render it again, judge it again, and compare it.
func reproduce(b *builder) ([]Section, error) {
	command := []string{"planrun", b.opt.Plan}
	if b.in.Environment != nil && len(b.in.Environment.Command) > 0 {
		command = b.in.Environment.Command
	}
	quoted := make([]string, len(command))
	for i, c := range command {
		quoted[i] = shellQuote(c)
	}
	dir := shellQuote(b.opt.Dir)
	return []Section{{Title: "How to reproduce", Blocks: []Block{
		Paragraph{text("Run it again:")},
		Code{[]string{strings.Join(quoted, " ")}},
		Paragraph{text("From what was recorded, without running anything: this report again, and the verdicts again (also with edited ones):")},
		Code{[]string{"planrun report " + dir, "planrun judge " + dir}},
		Paragraph{text("The plan as it was run is ", mono("plan.yaml"), " in the result set, its sources are in ", mono("sources/"), "; rendered files, command lines and logs are in ", mono("installs/"), ".")},
	}}}, nil
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// shellQuote makes s one word of a shell.
func shellQuote(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
