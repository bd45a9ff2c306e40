package report

import (
	"fmt"
	"strings"
)

// some joins at most n names, and says how many there are beyond: "a, b and 3 more".
func some(names []string, n int) Text {
	if len(names) <= n {
		return text(and(names))
	}
	return text(strings.Join(names[:n], ", ")+" and ", more(texts(names[n:])))
}

// list joins at most n parts by semicolons, for parts that hold commas: "a, of b; c, of d; and 3 more".
func list(parts []string, n int) Text { return listed(texts(parts), n) }

// listed is list of parts with styles.
func listed(parts []Text, n int) Text {
	if len(parts) <= n {
		return join(parts, "; ")
	}
	return text(join(parts[:n], "; "), "; and ", more(parts[n:]))
}

// more stands for what a bounded list leaves out.
func more(rest []Text) Span { return Span{Text: fmt.Sprintf("%d more", len(rest)), Rest: rest} }

func texts(of []string) []Text {
	out := make([]Text, len(of))
	for i, s := range of {
		out[i] = text(s)
	}
	return out
}
