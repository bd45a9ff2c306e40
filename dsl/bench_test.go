package dsl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/planrun/planrun/dsl"
)

// bigPlan is a plan of at least so many lines.
func bigPlan(lines int) string {
	var b strings.Builder
	b.WriteString("plan: big\nparams: {n: 4, length: 10s}\ntargets: {t: {endpoints: {http: \"127.0.0.1:1\"}}}\nloads: {small: {endpoint: http, connections: \"${{ params.n }}\"}}\nscenarios:\n")
	for i := range lines / 12 {
		fmt.Fprintf(&b, `  s%d:
    about: scenario %d
    repeats: 3
    matrix: {connections: [1, 2, 4]}
    phases:
      - warm-up: {for: 1s, do: [{load: small, through: measure}]}
      - measure:
          for: "${{ params.length }}"
          do:
            - {at: 40%%, load: {use: small, path: "/x/${{ matrix.connections }}", rate: 200/s}}
            - exec:
                command: [echo, "${{ params.n }}"]
`, i, i)
	}
	return b.String()
}

func BenchmarkLoad10000Lines(b *testing.B) {
	src := []byte(bigPlan(10_000))
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		_, list := dsl.Load("big.yaml", dsl.Options{Vocabulary: vocabulary, ReadFile: func(string) ([]byte, error) { return src, nil }})
		if len(list) > 0 {
			b.Fatal(list)
		}
	}
}

func BenchmarkBindScenario(b *testing.B) {
	p := loadSketch(b, "round2", dsl.Options{})
	s := p.Scenarios.Get("churn")
	fill := func(h *dsl.Hole) (any, bool, error) { return 5.0, true, nil }
	for b.Loop() {
		if _, list := s.Bind(fill); len(list) > 0 {
			b.Fatal(list)
		}
	}
}
