package verdict

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/planrun/planrun/engine/stats"
)

// noiseFloors declares noise_floor(a, b), and what the rewrite makes of it: @noise_floor(a, b, cell of a, metric, cell of b,
// metric).
func noiseFloors() []cel.EnvOption {
	wants := func(...ref.Val) ref.Val { return undefined("noise_floor() wants two metrics") }
	return []cel.EnvOption{fn("noise_floor", []*cel.Type{num, num}, num, wants),
		fn("@noise_floor", []*cel.Type{num, num, cel.DynType, text, cel.DynType, text}, num, func(v ...ref.Val) ref.Val {
			var spots [2]spot
			var metrics [2]string
			for i := range spots {
				o, ok := v[2+2*i].(*object)
				if !ok {
					return wants()
				}
				if spots[i], ok = o.v.(spot); !ok {
					return wants()
				}
				metrics[i] = string(v[3+2*i].(types.String))
			}
			elsewhere := [2]map[string]float64{spots[0].byStage(metrics[0]), spots[1].byStage(metrics[1])}
			stages := besides(spots, metrics, elsewhere)
			var sides [2]stats.Side
			for i, s := range spots {
				var err ref.Val
				if sides[i], err = s.side(metrics[i]); err != nil {
					return err
				}
				if !stages.Repeated() {
					delete(elsewhere[i], s.resolve(s.ix).Stage)
					sides[i].Again = slices.Collect(maps.Values(elsewhere[i]))
				}
			}
			switch r := stats.CompareIn(stages, spots[0].String(), sides[0], spots[1].String(), sides[1]); {
			case r.NA != "":
				return undefined("noise_floor() is n/a: %s", r.NA)
			case r.Noise == stats.Unknown:
				return because(TooFew, "the noise is not known: %s", r.Why)
			default:
				return finite("noise_floor()", r.Floor)
			}
		})}
}

// side is a metric of all runs.
func (s spot) side(name string) (stats.Side, ref.Val) {
	m, runs, err := s.values(name)
	if err != nil {
		return stats.Side{}, err
	}
	if m.Across == ByMax && strings.HasSuffix(name, "_mib") && s.shared() {
		return stats.Side{}, because(TooFew, "the noise is not known: runs of %s shared their processes, so they are no repeats of a peak of these", s)
	}
	return stats.Side{Runs: runs}, nil
}

// byStage are the medians of a metric's runs in the stage of s and in those that repeat it. What was only looked at for the noise
// is no read of the verdict, so the guards of other stages and targets do not count.
func (s spot) byStage(name string) map[string]float64 {
	out := map[string]float64{}
	at := s.resolve(s.ix)
	for _, stage := range s.ix.stagesOf[at.Scenario] {
		other := s
		other.place = s.place.stage(stage)
		if stage != at.Stage && !s.repeated(other) {
			continue
		}
		if runs := other.measured(name); len(runs) > 0 {
			out[stage] = stats.Median(runs)
		}
	}
	return out
}

// measured is a metric of the runs that have it, as tables take them: others of the cell may have failed.
func (s spot) measured(name string) (out []float64) {
	if s.data == nil || s.data.Cells[s.resolve(s.ix)] == nil {
		return nil
	}
	for _, r := range s.data.Cells[s.resolve(s.ix)].Runs {
		w := s.window(r)
		if r.Outcome != "" || w == nil || s.round > 0 && r.Round != s.round {
			continue
		}
		if v, ok := w.figure(name); ok {
			out = append(out, v)
		}
	}
	return out
}

// besides are what the stages that repeat that of two spots tell of their metrics; nothing if they are of different stages. All
// targets count where the two differ in the target alone, as they do in tables (compare.Rows).
func besides(of [2]spot, metrics [2]string, elsewhere [2]map[string]float64) stats.Stages {
	a, b := of[0].resolve(of[0].ix), of[1].resolve(of[1].ix)
	if a.Stage != b.Stage {
		return stats.Stages{}
	}
	s := stats.Stages{At: a.Stage, A: elsewhere[0], B: elsewhere[1]}
	b.Target = a.Target
	if a != b || metrics[0] != metrics[1] || of[0].phase != of[1].phase || of[0].load != of[1].load || !s.Repeated() {
		return s
	}
	for _, t := range of[0].ix.targets {
		other := of[0]
		other.place = other.target(t, false)
		s.Row = append(s.Row, other.byStage(metrics[0]))
	}
	return s
}

// shared reports whether several runs were on the same processes, which have one peak of memory between them.
func (s spot) shared() bool {
	_, runs, _ := s.runs()
	on := map[string]bool{}
	for _, r := range runs {
		if r.Installed != "" && on[r.Installed] {
			return true
		}
		on[r.Installed] = true
	}
	return false
}

// repeated reports whether the stage of other is the same experiment, so that it repeats the cell: it leaves out the same
// probes, and determined the same when it began. Tables decide alike (compare.Repeats).
func (s spot) repeated(other spot) bool {
	a, b := s.resolve(s.ix), other.resolve(s.ix)
	without := func(c Coord) []string { return slices.Sorted(slices.Values(s.ix.stages[c.Stage].Without)) }
	if !slices.Equal(without(a), without(b)) {
		return false
	}
	determined := func(c Coord, name string) (v any, ok bool) {
		if s.data == nil || s.data.Cells[c] == nil || len(s.data.Cells[c].Runs) == 0 {
			return nil, false
		}
		v, ok = s.data.Cells[c].Runs[0].Names["params."+name]
		return v, ok
	}
	for name, p := range s.ix.Params {
		x, inA := determined(a, name)
		y, inB := determined(b, name)
		if p.Known == AtStage && inA && inB && !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}
