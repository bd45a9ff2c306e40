package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/planrun/planrun/engine/record"
)

// environment says on what it was measured.
func environment(b *builder) ([]Section, error) {
	e := b.in.Environment
	s := Section{Title: "Environment"}
	if e == nil {
		s.Blocks = []Block{Paragraph{text("The result set does not say on what it was measured.")}}
		return []Section{s}, nil
	}
	t := Table{Columns: []Column{{Title: "what"}, {Title: "value"}}}
	put := func(name, value string) { t.Rows = append(t.Rows, row(name, dash(value))) }
	put("begun", e.Start.UTC().Format("2006-01-02 15:04:05 UTC"))
	put("machine", e.Hostname)
	put("system", strings.TrimSpace(e.OS+", kernel "+e.Kernel))
	put("virtual machine", dash(e.Virtual))
	put("CPU", fmt.Sprintf("%d x %s", e.CPUs, dash(e.CPUModel)))
	put("frequency governor", unknown(e.Governor))
	put("NUMA nodes", strconv.Itoa(e.NUMA))
	put("memory", grouped(e.MemoryMiB)+" MiB")
	put("planrun", e.Planrun+", "+e.Go)
	s.Blocks = append(s.Blocks, t)
	if len(e.Sysctls)+len(e.Limits) > 0 {
		t := Table{Columns: []Column{{Title: "setting"}, {Title: "value"}}}
		for _, k := range sorted(e.Sysctls) {
			t.Rows = append(t.Rows, row(text(mono(k)), e.Sysctls[k]))
		}
		for _, k := range sorted(e.Limits) {
			t.Rows = append(t.Rows, row("limit of "+k, e.Limits[k]))
		}
		s.Blocks = append(s.Blocks, Heading{"Settings that matter"}, t)
	}
	if layout := b.layout(e); len(layout.Rows) > 0 {
		s.Blocks = append(s.Blocks, Heading{"CPU layout"}, layout)
	}
	if lacks := offers(e); len(lacks) > 0 {
		s.Blocks = append(s.Blocks, Heading{"What this machine lacks"}, List{lacks})
	}
	return []Section{s}, nil
}

func unknown(s string) string {
	if s == "" {
		return "unknown (the machine does not say)"
	}
	return s
}

// layout compares the CPUs that the plan gives each role with those on which its processes were seen.
func (b *builder) layout(e *record.Environment) Table {
	t := Table{Columns: []Column{{Title: "role"}, {Title: "asked"}, {Title: "as verified"}}}
	seen := map[string]map[string]bool{}
	mark := func(role string, cpus []int) {
		if seen[role] == nil {
			seen[role] = map[string]bool{}
		}
		seen[role][cpuList(cpus)] = true
	}
	for _, r := range b.in.Runs {
		for _, p := range r.Processes {
			mark(p.Role, p.CPUs)
		}
	}
	roles := map[string]bool{}
	for role := range e.Layout {
		roles[role] = true
	}
	for role := range seen {
		roles[role] = true
	}
	for _, role := range sorted(roles) {
		verified := "n/a: no process of that role was seen"
		if s := sorted(seen[role]); len(s) > 0 {
			verified = strings.Join(s, "; ")
		}
		t.Rows = append(t.Rows, row(role, cpuList(e.Layout[role]), verified))
	}
	return t
}

// cpuList prints CPUs as the kernel does: 0-3,8.
func cpuList(cpus []int) string {
	if len(cpus) == 0 {
		return "not pinned"
	}
	var parts []string
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, strconv.Itoa(cpus[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", cpus[i], cpus[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// offers are the features that the machine lacks, with why.
func offers(e *record.Environment) (out []Text) {
	for _, k := range sorted(e.Offers) {
		if v := e.Offers[k]; v != "yes" {
			out = append(out, text(k+": "+dash(v)))
		}
	}
	return out
}
