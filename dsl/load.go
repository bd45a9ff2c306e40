package dsl

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"

	"github.com/planrun/planrun/dsl/diag"
)

// Options are how a plan is loaded. The zero value reads from disk and overrides nothing.
type Options struct {
	Vocabulary Vocabulary
	ReadFile   func(path string) ([]byte, error) // nil: os.ReadFile
	Presets    []string                          // applied in order, after the plan
	Set        []string                          // "name=value" for params, applied after the presets
	Only, Skip []string                          // cells: those that run, of those that run by the plan, and further ones that do not
	Repeats    int                               // of every scenario, if positive
}

// Load reads a plan and what it includes. It reports every problem of all of them in one pass, in the order of the files.
// The plan is never nil: its Sources serve to print the problems. It can be used only if none is more than a warning.
func Load(file string, opt Options) (plan *Plan, problems diag.List) {
	ld := &loader{opt: opt, sources: map[string]*source{}, parsed: map[string]*node{}, meant: map[*node]*node{}}
	ld.plan = &Plan{File: file, Sources: map[string][]byte{}}
	ld.l = &lang{vocab: opt.Vocabulary, names: map[string][]string{}, bases: map[string]map[string]*node{}, holes: map[holeKey]*Hole{}}
	ld.plan.l = ld.l
	if ld.opt.ReadFile == nil {
		ld.opt.ReadFile = ReadFile
		ld.abs = true
	}
	ld.plan.readFile = ld.opt.ReadFile
	defer func() {
		if p := recover(); p != nil {
			ld.probs.Addf(diag.Pos{File: file, Line: 1, Col: 1}, "planrun cannot read this plan: %v", p).Hint = "this is a fault of planrun; please report it with the plan\n" + string(debug.Stack())
		}
		ld.probs.Sort(ld.plan.Files)
		plan, problems = ld.plan, ld.probs
	}()
	ld.load(file)
	return
}

// A loader reads the files of one plan.
type loader struct {
	opt     Options
	abs     bool // paths become absolute
	probs   diag.List
	plan    *Plan
	l       *lang
	sources map[string]*source
	parsed  map[string]*node
	open    []string        // files that are being included
	meant   map[*node]*node // files whose sections were looked at
}

func (ld *loader) load(file string) {
	if ld.reportPart(ld.file(file, nil)) {
		return
	}
	root := ld.include(file, nil)
	if root == nil {
		return
	}
	root = ld.override(root)
	ld.l.published = root.get("published") != nil
	ld.collectNames(root)
	root = ld.resolveAll(root)
	ld.plan.root = root
	d := &decoder{l: ld.l, probs: &ld.probs, root: root}
	d.structure(root, reflect.ValueOf(ld.plan).Elem(), &field{when: TimePlan}, "")
	ld.plan.checkNames(d)
}

// source registers the bytes of a file under the name that positions use.
func (ld *loader) source(name, dir string, b []byte) *source {
	s := newSource(name, dir, b)
	ld.sources[name] = s
	ld.plan.Sources[name] = b
	ld.plan.Files = append(ld.plan.Files, name)
	return s
}

// file parses a file once. at is what named it; nil: the command line.
func (ld *loader) file(path string, at *node) *node {
	path = filepath.Clean(path)
	if n, ok := ld.parsed[path]; ok {
		return n
	}
	b, err := ld.opt.ReadFile(path)
	if err != nil {
		if at == nil {
			ld.probs.Addf(diag.Pos{File: path}, "the plan cannot be read: %v", reason(err)).Hint = "check the path"
		} else {
			p := ld.probs.Addf(at.pos(), "%s cannot be read: %v", path, reason(err))
			p.Hint, p.End = "paths are relative to the file that writes them", at.end()
		}
		ld.parsed[path] = nil
		ld.l.broken = true
		return nil
	}
	dir := filepath.Dir(path)
	if ld.abs {
		if a, err := filepath.Abs(dir); err == nil {
			dir = a
		}
	}
	src := ld.source(path, dir, b)
	errs := len(ld.probs)
	n := parse(src, &ld.probs)
	if n != nil && n.kind != mapNode {
		if len(ld.probs) == errs {
			ld.probs.Addf(n.pos(), "want a mapping, have %s", n.describe()).Hint = "a file of a plan holds keys and values"
		}
		n = nil
	} else if n == nil && len(ld.probs) == errs {
		ld.probs.Addf(diag.Pos{File: path, Line: 1, Col: 1}, "the file is empty").Hint = "write at least plan: NAME"
	}
	ld.parsed[path] = n
	ld.l.broken = ld.l.broken || n == nil
	return n
}

// reason is an error without the path that the message has already.
func reason(err error) error {
	if pe, ok := err.(*os.PathError); ok {
		return pe.Err
	}
	return err
}

// near is where a path that a node wrote is read: beside the file that wrote it. It is relative if that file's name is.
func near(n *node) string {
	if filepath.IsAbs(n.text) {
		return n.text
	}
	return filepath.Join(filepath.Dir(n.src.name), n.text)
}

// include reads a plan file with all that it includes.
func (ld *loader) include(path string, at *node) *node {
	path = filepath.Clean(path)
	for i, o := range ld.open {
		if o == path {
			p := ld.probs.Addf(at.pos(), "%s includes itself", path)
			p.Hint = "the files include each other in a circle: " + strings.Join(append(ld.open[i:], path), " -> ")
			return nil
		}
	}
	n := ld.sections(ld.file(path, at))
	if n == nil {
		return nil
	}
	ld.open = append(ld.open, path)
	defer func() { ld.open = ld.open[:len(ld.open)-1] }()
	top := ruleOf(typePlan, &ld.opt.Vocabulary)
	var base *node
	for _, inc := range textsOf(n.get("include")) {
		if len(inc.holes) > 0 {
			continue // reported when it is decoded
		}
		if b := ld.include(near(inc), inc); b != nil {
			base = merge(base, b.with(keyAt("include", b), nil), top)
		}
	}
	return merge(base, n, top)
}

// textsOf returns the scalars of a text or a list of texts.
func textsOf(n *node) []*node {
	switch {
	case n == nil:
		return nil
	case n.kind == scalarNode:
		return []*node{n}
	}
	var out []*node
	for _, it := range n.items {
		if it.kind == scalarNode {
			out = append(out, it)
		}
	}
	return out
}

// ReadFile reads a file that the plan names, as the plan itself was read.
func (p *Plan) ReadFile(path string) ([]byte, error) {
	b, err := p.readFile(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return b, nil
}
