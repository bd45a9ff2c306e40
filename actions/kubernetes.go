package actions

import "github.com/planrun/planrun/dsl"

const noCluster = "there is no cluster driver yet"

var (
	applyKind   = later("apply", noCluster, "Apply Kubernetes objects (server-side), from a file or a template. The end of the installation or run deletes them, or gives them their old content back.", func() any { return &apply{} })
	deleteKind  = later("delete", noCluster, "Delete Kubernetes objects. The end of the run creates them again.", func() any { return &deleteObjects{} })
	patchKind   = later("patch", noCluster, "Patch a Kubernetes object. The end of the run takes it back.", func() any { return &patch{} })
	helmKind    = later("helm", noCluster, "Install a Helm chart and wait until it is ready. The end of the installation uninstalls it.", func() any { return &helm{} })
	rolloutKind = later("rollout", noCluster, "Wait until a Deployment, StatefulSet or DaemonSet is rolled out; or restart it first.", func() any { return &rollout{} })
)

type apply struct {
	File      string       `yaml:"file" kind:"true" short:"true" path:"true" doc:"a file of objects"`
	Template  string       `yaml:"template" kind:"true" path:"true" doc:"a template of objects, as in write"`
	Object    dsl.Value    `yaml:"object" kind:"true" doc:"an object"`
	Namespace string       `yaml:"namespace" doc:"namespace of objects that name none; left out: the plan's own"`
	Count     int          `yaml:"count" default:"1" min:"1" max:"1000000" doc:"how often, with .Index from 0 in the template"`
	Rate      dsl.Rate     `yaml:"rate" min:"0.1" doc:"objects a second; left out: as fast as the server takes them"`
	Wait      bool         `yaml:"wait" default:"true" doc:"wait until workloads are ready"`
	Timeout   dsl.Duration `yaml:"timeout" default:"5m" min:"1ms" doc:"how long that may take"`
}

// Check finds what the types do not.
func (a *apply) Check(c *dsl.Check) {
	if !c.Has("file") && !c.Has("template") && !c.Has("object") {
		c.Errorf("", "nothing says what is applied").Hint = "write one of file, template, object"
	}
}

type deleteObjects struct {
	Object    string       `yaml:"object" kind:"true" short:"true" doc:"KIND/NAME or NAMESPACE/KIND/NAME"`
	Selector  string       `yaml:"selector" kind:"true" doc:"labels of the objects: app=web"`
	Kind      string       `yaml:"kind" doc:"with selector: their kind"`
	Namespace string       `yaml:"namespace" doc:"their namespace; left out: the plan's own"`
	Rate      dsl.Rate     `yaml:"rate" min:"0.1" doc:"objects a second; left out: as fast as the server takes them"`
	Grace     dsl.Duration `yaml:"grace" min:"0s" doc:"grace period of pods; left out: their own"`
}

// Check finds what the types do not.
func (d *deleteObjects) Check(c *dsl.Check) {
	if !c.Has("object") && !c.Has("selector") {
		c.Errorf("", "nothing says what is deleted").Hint = "write object: KIND/NAME, or selector and kind"
	}
	if c.Has("selector") != c.Has("kind") {
		c.Errorf("", "selector and kind belong together")
	}
}

type patch struct {
	Object    string    `yaml:"object" required:"true" doc:"KIND/NAME or NAMESPACE/KIND/NAME"`
	Patch     dsl.Value `yaml:"patch" required:"true" doc:"what is changed"`
	Type      string    `yaml:"type" enum:"merge|strategic|json" default:"merge" doc:"the kind of patch"`
	Namespace string    `yaml:"namespace" doc:"its namespace; left out: the plan's own"`
}

type helm struct {
	Chart     string             `yaml:"chart" required:"true" doc:"a chart: a directory, an archive, or oci://..."`
	Version   string             `yaml:"version" doc:"its version"`
	Repo      string             `yaml:"repo" doc:"the repository of a chart that is only named"`
	Release   string             `yaml:"release" required:"true" doc:"name of the release"`
	Namespace string             `yaml:"namespace" doc:"its namespace; left out: the plan's own"`
	Values    string             `yaml:"values" path:"true" doc:"a template of values, as in write"`
	Set       dsl.Map[dsl.Value] `yaml:"set" doc:"further values; they win over those of the file"`
	Timeout   dsl.Duration       `yaml:"timeout" default:"5m" min:"1ms" doc:"how long it may take until it is ready"`
}

type rollout struct {
	Object    string       `yaml:"object" required:"true" short:"true" doc:"KIND/NAME or NAMESPACE/KIND/NAME"`
	Restart   bool         `yaml:"restart" doc:"restart it first"`
	Namespace string       `yaml:"namespace" doc:"its namespace; left out: the plan's own"`
	Timeout   dsl.Duration `yaml:"timeout" default:"5m" min:"1ms" doc:"how long it may take"`
	Record    dsl.Ident    `yaml:"record" hole:"no" doc:"a metric of the run that the time it took becomes, in the unit in which its name ends: _ms or _s"`
}
