package actions

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

var snapshotKind = kind("snapshot", "Read a probe or a URL once, and keep what it said in the run's directory, below snapshots/.", func() *snapshot { return &snapshot{} })

type snapshot struct {
	Probe   string       `yaml:"probe" kind:"true" hole:"no" short:"true" doc:"a probe of the plan, by its name"`
	URL     string       `yaml:"url" kind:"true" doc:"http://HOST:PORT/PATH, or ENDPOINT/PATH for an endpoint of the target"`
	Timeout dsl.Duration `yaml:"timeout" default:"10s" min:"1ms" doc:"with url: how long it may take"`
}

// Check finds what the types do not.
func (s *snapshot) Check(c *dsl.Check) {
	if !c.Has("probe") && !c.Has("url") {
		c.Errorf("", "nothing says what is read").Hint = "write probe: NAME or url: URL"
	}
	if c.Has("url") && c.Known("url") {
		checkURL(c, "url", s.URL)
	}
}

// Declares what it reads.
func (s *snapshot) Declares() task.Declaration {
	d := task.Declaration{Uses: urlUses("url", s.URL)}
	if s.Probe != "" {
		d.Uses = append(d.Uses, task.Use{Kind: "probe", Name: s.Probe, Field: "probe"})
	}
	return d
}

func (s *snapshot) Run(ctx context.Context, env *task.Env) error {
	if env.RunDir == "" {
		return fmt.Errorf("a snapshot belongs to a run, and none goes on")
	}
	name, body, err := s.read(ctx, env)
	if err != nil {
		return err
	}
	dir := filepath.Join(env.RunDir, "snapshots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("keeping a snapshot: %w", err)
	}
	if err := os.WriteFile(unused(dir, name), []byte(env.Redact(string(body))), 0o644); err != nil {
		return fmt.Errorf("keeping a snapshot: %w", err)
	}
	return nil
}

func (s *snapshot) read(ctx context.Context, env *task.Env) (name string, body []byte, err error) {
	if s.Probe != "" {
		values, err := env.Snapshot(s.Probe)
		if err != nil {
			return "", nil, err
		}
		body, err := json.MarshalIndent(map[string]any{"t": time.Now().UTC(), "probe": s.Probe, "values": values}, "", "  ")
		return fileName(s.Probe) + ".json", body, err
	}
	u, err := resolveURL(env, s.URL)
	if err != nil {
		return "", nil, err
	}
	body, err = httpEntry{URL: u, Method: http.MethodGet, Timeout: s.Timeout}.do(ctx)
	name = fileName(env.Name) + ".txt"
	if json.Valid(body) {
		name = fileName(env.Name) + ".json"
	}
	return name, body, err
}

// fileName makes a name of the plan one of a file.
func fileName(name string) string {
	return strings.NewReplacer("/", "_", "\x00", "_").Replace(name)
}
