package verdict

import (
	"math"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

var numberFunctions = []function{
	{Doc{"abs", "numbers", "abs(x)", "The value without its sign.", `abs(3 - 5)`, "2"}, of1("abs", math.Abs)},
	{Doc{"ceil", "numbers", "ceil(x)", "The next whole number that is not smaller.", `ceil(2.1)`, "3"}, of1("ceil", math.Ceil)},
	{Doc{"floor", "numbers", "floor(x)", "The next whole number that is not larger.", `floor(2.9)`, "2"}, of1("floor", math.Floor)},
	{Doc{"floor_to", "numbers", "floor_to(x, step)", "The next multiple of step that is not larger.", `floor_to(19437, 1000)`, "19000"}, floorTo()},
	{Doc{"round", "numbers", "round(x)", "The nearest whole number; halves go away from zero.", `round(2.5)`, "3"}, of1("round", math.Round)},
	{Doc{"min", "numbers", "min(a, b, ...)", "The smallest of two to four numbers; also of a list.", `min(3, 1, 2)`, "1"}, pick("min", math.Min)},
	{Doc{"max", "numbers", "max(a, b, ...)", "The largest of two to four numbers; also of a list.", `max(3, 1, 2)`, "3"}, pick("max", math.Max)},
	{Doc{"ratio", "numbers", "ratio(a, b)", "The ratio of two metrics. Undefined for a zero denominator, and for latencies where more than 0.1 % of the requests of one side failed or took longer than 1 s.",
		`ratio(req_per_s, target("nginx").req_per_s) > 1`, "true"}, ratios()},
	{Doc{"noise_floor", "numbers", "noise_floor(a, b)", "How far apart two metrics may be and differ by no more than their noise, as a factor of at least 1: the noise floor of ratio(a, b), as tables have it. Undefined below three runs a side, where a run's value is 0, where all runs gave the same value, and of a peak of memory of runs on the same processes.",
		`noise_floor(req_per_s, target("nginx").req_per_s) >= 1`, "true"}, noiseFloors()},
	{Doc{"within", "numbers", "within(a, b, tolerance)", "Whether a and b differ by no more than a part of the larger.", `within(100, 96, percent(5))`, "true"},
		[]cel.EnvOption{fn("within", []*cel.Type{num, num, num}, boolean, func(v ...ref.Val) ref.Val {
			a, b := double(v[0]), double(v[1])
			return types.Bool(math.Abs(a-b) <= double(v[2])*math.Max(math.Abs(a), math.Abs(b)))
		})}},
}

var unitFunctions = []function{
	{Doc{"percent", "units", "percent(x)", "A hundredth.", `percent(5)`, "0.05"}, scale("percent", 0.01)},
	{Doc{"ms", "units", "ms(x)", "Milliseconds as seconds, for a field that is a duration. Metrics carry their unit: write `p99_ms < 5`.", `ms(250)`, "0.25"}, scale("ms", 1e-3)},
	{Doc{"seconds", "units", "seconds(x)", "Seconds.", `seconds(5)`, "5"}, scale("seconds", 1)},
	{Doc{"minutes", "units", "minutes(x)", "Minutes as seconds.", `minutes(2)`, "120"}, scale("minutes", 60)},
	{Doc{"kib", "units", "kib(x)", "KiB as bytes, for a field that is a size.", `kib(4)`, "4096"}, scale("kib", 1<<10)},
	{Doc{"mib", "units", "mib(x)", "MiB as bytes.", `mib(1)`, "1048576"}, scale("mib", 1<<20)},
	{Doc{"gib", "units", "gib(x)", "GiB as bytes.", `gib(1) / mib(1)`, "1024"}, scale("gib", 1<<30)},
}

func of1(name string, f func(float64) float64) []cel.EnvOption {
	return []cel.EnvOption{fn(name, []*cel.Type{num}, num, func(v ...ref.Val) ref.Val { return finite(name+"()", f(double(v[0]))) })}
}

func scale(name string, k float64) []cel.EnvOption {
	return of1(name, func(x float64) float64 { return x * k })
}

func floorTo() []cel.EnvOption {
	return []cel.EnvOption{fn("floor_to", []*cel.Type{num, num}, num, func(v ...ref.Val) ref.Val {
		step := double(v[1])
		return finite("floor_to()", math.Floor(double(v[0])/step)*step)
	})}
}

func pick(name string, f func(a, b float64) float64) (out []cel.EnvOption) {
	for n := 2; n <= 4; n++ {
		args := make([]*cel.Type, n)
		for i := range args {
			args[i] = num
		}
		out = append(out, fn(name, args, num, func(v ...ref.Val) ref.Val {
			r := double(v[0])
			for _, x := range v[1:] {
				r = f(r, double(x))
			}
			return types.Double(r)
		}))
	}
	return out
}

// ratios declares ratio(a, b), and what the rewrite makes of it: @ratio(a, b, cell of a, metric, cell of b, metric).
func ratios() []cel.EnvOption {
	plain := func(v ...ref.Val) ref.Val {
		if double(v[1]) == 0 {
			return undefined("ratio to zero")
		}
		return finite("ratio()", double(v[0])/double(v[1]))
	}
	return []cel.EnvOption{fn("ratio", []*cel.Type{num, num}, num, plain),
		fn("@ratio", []*cel.Type{num, num, cel.DynType, text, cel.DynType, text}, num, func(v ...ref.Val) ref.Val {
			for i := 2; i < 6; i += 2 {
				o, ok := v[i].(*object)
				if !ok {
					return undefined("ratio() wants two metrics")
				}
				s, ok := o.v.(spot)
				if m := s.ix.metrics[string(v[i+1].(types.String))]; !ok || m.Class != Latency {
					continue
				}
				if why, err := s.distorted(); err != nil {
					return err
				} else if why != "" {
					return undefined("ratio() is n/a: %s", why)
				}
			}
			return plain(v...)
		})}
}
