package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/planrun/planrun/"

// A listed is a package as `go list -json` prints it.
type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
	Deps                               []string
}

// packages lists the packages of the module.
func packages(t *testing.T) (out []listed) {
	t.Helper()
	c := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports,Deps", module+"...")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	b, err := c.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	for d := json.NewDecoder(bytes.NewReader(b)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
}

// never says what a package must not depend on, not even through others. A name ending in / stands for all below it.
var never = []struct {
	from, to []string
	why      string
}{
	{[]string{"dsl", "dsl/diag"}, []string{"engine", "engine/", "actions", "probes", "internal/", "cel"}, "the language knows no engine, no kind and no CEL"},
	{[]string{"engine", "engine/"}, []string{"actions", "probes", "probes/"}, "the engine sees kinds as task.Action and task.Probe"},
	{[]string{"engine/report", "engine/report/html"}, []string{"dsl", "dsl/", "cel", "yaml", "engine", "engine/verdict", "engine/proc"}, "a report reads records only"},
	{[]string{"engine/diff"}, []string{"dsl", "dsl/", "cel", "yaml", "engine", "engine/verdict", "engine/proc"}, "two result sets are compared by their records only; plans reach it as plain data"},
	{[]string{"engine/compare"}, []string{"dsl", "dsl/", "cel", "yaml", "engine", "engine/measure", "engine/report", "engine/verdict", "engine/proc"}, "two sides are compared by their records only"},
	{[]string{"engine/export"}, []string{"dsl", "dsl/", "cel", "yaml", "engine", "engine/verdict", "engine/measure", "engine/report", "engine/proc"}, "an export reads records only"},
	{[]string{"engine/published"}, []string{"cel", "engine", "engine/measure", "engine/record", "engine/report", "engine/verdict", "engine/proc"}, "figures are read by what a plan knows of them, and judge nothing"},
	{[]string{"engine/record", "engine/stats", "engine/series"}, []string{"dsl", "dsl/", "cel", "yaml", "engine", "engine/verdict", "engine/proc"}, "records are self-contained"},
	{[]string{"engine/series"}, []string{"engine/", "internal/"}, "a leaf"},
	{[]string{"engine/task"}, []string{"engine", "engine/journal", "engine/machine", "engine/measure", "engine/proc", "engine/record", "engine/report", "engine/stats", "engine/verdict", "internal/serve/"}, "a contract knows neither side"},
	{[]string{"engine/journal", "engine/proc", "engine/machine", "engine/measure", "engine/crosscheck"}, []string{"engine", "engine/verdict", "engine/report", "cel"}, "what the engine is made of judges nothing"},
	{[]string{"engine/verdict"}, []string{"engine", "dsl", "dsl/", "engine/proc", "engine/record", "actions", "probes"}, "expressions know no plan and no process"},
	{[]string{"internal/"}, []string{"engine", "engine/", "dsl", "dsl/", "actions", "probes", "plans", "cel", "yaml"}, "its processes are measured and go into pods"},
	{[]string{"actions", "probes", "probes/"}, []string{"cel", "engine", "engine/verdict", "engine/report"}, "kinds see the engine as task.Env"},
}

// importers are the only packages that import a library.
var importers = map[string][]string{
	"gopkg.in/yaml.v3":                     {"dsl", "dsl/mutate"},
	"github.com/google/cel-go/":            {"engine/verdict"},
	"github.com/Shopify/toxiproxy/":        {"internal/serve/faults", "engine/toxiproxy"}, // what a link does; the client of a server of others
	"github.com/containerd/cgroups/":       {"probes"},
	"github.com/google/nftables":           {"internal/serve/drop", "internal/serve/servetest"},
	"github.com/mdlayher/netlink":          {"internal/serve/drop"},
	"gonum.org/v1/plot":                    {"engine/report/html"},
	"gonum.org/v1/plot/":                   {"engine/report/html"},
	"github.com/spf13/cobra":               {"cmd/planrun"},
	"github.com/vbauerster/mpb/":           {"cmd/planrun"},
	"github.com/jstemmer/go-junit-report/": {"engine/export"},
	"github.com/prometheus/common/":        {"engine/export"},
	"github.com/prometheus/client_model/":  {"engine/export"},
	"golang.org/x/perf/benchfmt":           {"engine/export"},
	"golang.org/x/perf/benchmath":          {"engine/stats"},
	"gonum.org/v1/gonum/":                  {"engine/stats"},
	"k8s.io/client-go/":                    nil, // engine/kube, when there is one
}

func TestImportsGoOneWay(t *testing.T) {
	all := packages(t)
	for _, rule := range never {
		matched := false
		for _, p := range all {
			name, ok := strings.CutPrefix(p.ImportPath, module)
			if !ok || !within(name, rule.from) {
				continue
			}
			matched = true
			for _, dep := range p.Deps {
				if dep != p.ImportPath && within(short(dep), rule.to) {
					t.Errorf("%s depends on %s: %s", name, short(dep), rule.why)
				}
			}
		}
		if !matched {
			t.Errorf("no package is %v", rule.from)
		}
	}
}

func TestLibrariesHaveOneImporter(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		for _, path := range p.Imports {
			for library, only := range importers {
				if (path == strings.TrimSuffix(library, "/") || strings.HasPrefix(path, library)) && !slices.Contains(only, name) {
					t.Errorf("%s imports %s, which only %v may", name, path, only)
				}
			}
		}
	}
}

// short is a package's name in rules: the module's own ones below it, and what matters of others.
func short(path string) string {
	switch {
	case strings.HasPrefix(path, module):
		return strings.TrimPrefix(path, module)
	case path == "github.com/google/cel-go" || strings.HasPrefix(path, "github.com/google/cel-go/"):
		return "cel"
	case path == "gopkg.in/yaml.v3":
		return "yaml"
	}
	return "other " + path // of the standard library, where internal/ is not ours, or of others
}

func within(name string, of []string) bool {
	return slices.ContainsFunc(of, func(o string) bool { return name == o || strings.HasSuffix(o, "/") && strings.HasPrefix(name, o) })
}
