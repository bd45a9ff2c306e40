package verdict

import (
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
)

// Compiler compiles the expressions of a plan. It is safe for concurrent use.
type Compiler struct {
	ix   *index
	base *Compiler // what it extends, or nil
	root *cel.Env
	own  struct {
		names     []Name
		metrics   map[string]Metric
		functions []Function
	}
	functions map[string]Function // of the plan, all
	lets      map[string]*Program

	mu   sync.Mutex
	envs map[Time]*cel.Env
}

// NewCompiler makes the environments of a schema. Its error says what is wrong with the schema (two things of one name).
func NewCompiler(s *Schema) (*Compiler, error) {
	ix, err := newIndex(s)
	if err != nil {
		return nil, err
	}
	c, err := compilerOf(ix)
	if err != nil {
		return nil, err
	}
	return c, c.addFunctions(s.Functions)
}

func compilerOf(ix *index) (*Compiler, error) {
	root, err := newEnv(ix)
	if err != nil {
		return nil, fmt.Errorf("making the expression environment: %w", err)
	}
	c := &Compiler{ix: ix, root: root, functions: map[string]Function{}, envs: map[Time]*cel.Env{}}
	c.own.metrics = ix.metrics
	for _, n := range ix.names {
		c.own.names = append(c.own.names, n)
	}
	return c, nil
}

// Extend gives a compiler that knows more names: the knobs of a target (with.x), the vars of a scenario.
func (c *Compiler) Extend(names []Name, functions []Function) (*Compiler, error) {
	ix := *c.ix
	ix.names = maps.Clone(c.ix.names)
	if err := ix.add(names); err != nil {
		return nil, err
	}
	out := &Compiler{ix: &ix, base: c, functions: maps.Clone(c.functions), lets: c.lets, envs: map[Time]*cel.Env{}}
	for _, n := range names {
		out.own.names = append(out.own.names, ix.names[n.Name])
	}
	return out, out.addFunctions(functions)
}

func (c *Compiler) addFunctions(fs []Function) error {
	for _, f := range fs {
		if _, twice := c.functions[f.Name]; twice || addressers[f.Name] {
			return fmt.Errorf("the function %q is declared twice", f.Name)
		}
		c.functions[f.Name] = f
	}
	c.own.functions = fs
	return nil
}

// WithLet gives a compiler in which name stands for a compiled expression; it is evaluated when it is first used.
func (c *Compiler) WithLet(name string, p *Program) (*Compiler, []Problem) {
	taken := c.ix.names[name].Name != "" || c.isNamespace(name) || c.lets[name] != nil || c.functions[name].Name != ""
	if _, metric := c.ix.metrics[name]; metric || taken {
		return nil, []Problem{{1, 1, fmt.Sprintf("%q is already the name of something else", name), "choose another name"}}
	}
	env, err := c.env(p.time)
	if err == nil {
		env, err = env.Extend(cel.Variable(name, p.typ))
	}
	if err != nil {
		return nil, []Problem{{1, 1, err.Error(), ""}}
	}
	out := &Compiler{ix: c.ix, base: c, functions: c.functions, lets: map[string]*Program{name: p}, envs: map[Time]*cel.Env{p.time: env}}
	for n, l := range c.lets {
		out.lets[n] = l
	}
	return out, nil
}

// env is the environment of one time.
func (c *Compiler) env(t Time) (*cel.Env, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.envs[t]; e != nil {
		return e, nil
	}
	from, err := c.root, error(nil)
	if c.base != nil {
		if from, err = c.base.env(t); err != nil {
			return nil, err
		}
	}
	opts := declare(c.own.names, c.own.metrics, c.own.functions, t)
	if c.base == nil && t&(AtStage|AtLive|AtJudge) != 0 {
		opts = append(opts, cel.Variable("@here", cellT))
	}
	if c.base == nil {
		opts = append(opts, cel.Variable("@plan", planT))
	}
	e, err := from.Extend(opts...)
	if err != nil {
		return nil, err
	}
	c.envs[t] = e
	return e, nil
}

// isNamespace says whether name is the first part of a dotted name, such as params.
func (c *Compiler) isNamespace(name string) bool {
	for n := range c.ix.names {
		if n == name || strings.HasPrefix(n, name+".") {
			return true
		}
	}
	return false
}

func (c *Compiler) isPlanFunction(name string) bool { return c.functions[name].Name != "" }
