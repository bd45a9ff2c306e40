package verdict

import (
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
			var names [2]string
			var sides [2]stats.Side
			for i := range sides {
				o, ok := v[2+2*i].(*object)
				if !ok {
					return wants()
				}
				s, ok := o.v.(spot)
				if !ok {
					return wants()
				}
				side, err := s.side(string(v[3+2*i].(types.String)))
				if err != nil {
					return err
				}
				names[i], sides[i] = s.String(), side
			}
			switch r := stats.Compare(names[0], sides[0], names[1], sides[1]); {
			case r.NA != "":
				return undefined("noise_floor() is n/a: %s", r.NA)
			case r.Noise == stats.Unknown:
				return because(TooFew, "the noise is not known: %s", r.Why)
			default:
				return finite("noise_floor()", r.Floor)
			}
		})}
}

// side is a metric of all runs, and what the same cell gave in other stages that repeat it.
func (s spot) side(name string) (stats.Side, ref.Val) {
	m, runs, err := s.values(name)
	if err != nil {
		return stats.Side{}, err
	}
	if m.Across == ByMax && strings.HasSuffix(name, "_mib") && s.shared() {
		return stats.Side{}, because(TooFew, "the noise is not known: runs of %s shared their processes, so they are no repeats of a peak of these", s)
	}
	out := stats.Side{Runs: runs}
	at := s.resolve(s.ix)
	for _, stage := range s.ix.stagesOf[at.Scenario] {
		if stage == at.Stage {
			continue
		}
		other := s
		other.place = s.place.stage(stage)
		if !s.repeated(other) {
			continue
		}
		if _, again, err := other.values(name); err == nil {
			out.Again = append(out.Again, stats.Median(again))
		}
	}
	return out, nil
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
