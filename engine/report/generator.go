package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/plural"
)

// ofGenerator are the guards that say whether the load generator was what limited a run.
var ofGenerator = []string{"generator-cpu", "generator-known", "generator", "rate-delivered", "send-lag", "connections", "descriptors", "ports"}

func isOfGenerator(g record.Guard) bool { return slices.Contains(ofGenerator, g.Name) }

// generator says in the findings whether the load generator was the bottleneck, also when it was not, and what it was seen
// to do.
func (b *builder) generator() []Text {
	var limited, unknown, loaded []*record.Run
	words := map[string][]*record.Run{}
	var order []string
	example, held := "", 0
	for _, r := range b.in.Runs {
		if len(r.Loads) == 0 {
			continue
		}
		loaded = append(loaded, r)
		for _, g := range r.Guards {
			switch {
			case !isOfGenerator(g):
			case g.OK:
				held++
			case g.Name == "generator-known":
				unknown = append(unknown, r)
			default:
				limited = append(limited, r)
				if words[g.Name] == nil {
					order = append(order, g.Name)
				}
				words[g.Name] = append(words[g.Name], r)
				if example == "" {
					example = strings.TrimPrefix(oneLine(g.Message), bottleneck+": ")
				}
			}
		}
	}
	if len(loaded) == 0 || held+len(limited)+len(unknown) == 0 {
		return nil
	}
	seen := b.generatorFigures()
	var items []Text
	switch n := distinct(limited); {
	case n > 0:
		var parts []string
		for _, name := range order {
			parts = append(parts, fmt.Sprintf("%s (%s, in %s)", strings.TrimPrefix(guardWords[name], bottleneck+": "), name, b.inRuns(words[name])))
		}
		items = append(items, text(doubtful(upper(bottleneck)+" in "+b.share(n, len(loaded))), ": "+strings.Join(parts, "; ")+". Latencies, rates and CPU figures of these are not to be trusted. Seen: "+example+"."+seen))
	case distinct(unknown) < len(loaded):
		items = append(items, text("The load generator was not the bottleneck in any run: ", plural.Of(held, "guard")+" of it held."+seen))
	}
	if n := distinct(unknown); n > 0 {
		items = append(items, text(doubtful("Whether the load generator had the CPU that it needed is not known in "+b.share(n, len(loaded))), ": "+b.inRuns(unknown)+"; "+taintWords["timing"]+"."))
	}
	return items
}

// share is n of all runs in words.
func (b *builder) share(n, all int) string {
	if n == all && n > 1 {
		return "all " + plural.Of(all, "run")
	}
	return fmt.Sprintf("%d of %s", n, plural.Of(all, "run"))
}
