package machine

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Allowed are the CPUs that this process may use, in order.
func Allowed() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var out []int
	for i := 0; len(out) < set.Count(); i++ {
		if set.IsSet(i) {
			out = append(out, i)
		}
	}
	return out
}

// A Layout is what is to be said of CPUs given to roles.
type Layout struct {
	Problems []string // it cannot be had
	Warnings []string // it can, but timings will suffer
}

// CheckLayout compares the CPUs that a plan gives to roles with those that are allowed here.
func CheckLayout(layout map[string][]int) Layout { return checkLayout(layout, Allowed()) }

func checkLayout(layout map[string][]int, allowed []int) (l Layout) {
	roles := slices.Sorted(maps.Keys(layout))
	for _, role := range roles {
		var absent []int
		for _, cpu := range layout[role] {
			if !slices.Contains(allowed, cpu) {
				absent = append(absent, cpu)
			}
		}
		if len(absent) > 0 {
			l.Problems = append(l.Problems, fmt.Sprintf("%s is to run on CPU %s, which this process may not use; there are CPUs %s", role, List(absent), List(allowed)))
		}
	}
	for i, a := range roles {
		for _, b := range roles[i+1:] {
			both := shared(layout[a], layout[b])
			if len(both) == 0 {
				continue
			}
			what := fmt.Sprintf("%s and %s share CPU %s", a, b, List(both))
			switch {
			case a == "load" || b == "load":
				what += ": the load generator and what it measures take CPU from each other, so latencies and rates are of both"
			case a == "sut" || b == "sut":
				what += ": the target has less CPU than its CPUs suggest"
			default:
				continue
			}
			l.Warnings = append(l.Warnings, what)
		}
	}
	return l
}

func shared(a, b []int) (out []int) {
	for _, x := range a {
		if slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}

// List writes CPUs as a plan does: 0-3,8.
func List(cpus []int) string {
	c := slices.Compact(slices.Sorted(slices.Values(cpus)))
	var parts []string
	for i := 0; i < len(c); {
		j := i
		for j+1 < len(c) && c[j+1] == c[j]+1 {
			j++
		}
		part := strconv.Itoa(c[i])
		if j > i {
			part += "-" + strconv.Itoa(c[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}
