package measure

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/planrun/planrun/engine/record"
)

// A stored run gives the same numbers, guards and checks as the one that was in memory, and cells are derived anew of
// what has no metrics.
func TestStoredRunSaysTheSame(t *testing.T) {
	set, err := record.Create(record.CreateOptions{Plan: "p", Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	d := counted()
	d.Run.Coord = record.Coord{Stage: "s", Scenario: "sc", Target: "nginx", Round: 1, Repeat: 1}
	d.Run.Start = time.Now()
	w, err := set.StartRun(d.Run, record.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.Seconds(d.Seconds[:7]...)
	w.Flush() // a second in two parts
	w.Seconds(d.Seconds[7:]...)
	w.Points(d.Points...)
	if err := w.Finish(d.Run); err != nil {
		t.Fatal(err)
	}
	stored, err := set.Data(d.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(stored.Notes) > 0 {
		t.Errorf("notes: %q", stored.Notes)
	}
	Derive(d)
	Derive(stored)
	equal := cmpopts.EquateApprox(1e-9, 0)
	if diff := cmp.Diff(d.Run.Metrics, stored.Run.Metrics, cmp.Transformer("map", (*record.Window).Map), equal); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(d.Run.Missing, stored.Run.Missing); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Guards(d, DefaultThresholds(), Machine{}), Guards(stored, DefaultThresholds(), Machine{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Checks(d), Checks(stored)); diff != "" {
		t.Error(diff)
	}

	fromDisk, descs := CellsOf([]*record.Run{stored.Run})
	fromMemory, _ := CellsOf([]*record.Run{d.Run})
	if diff := cmp.Diff(fromMemory, fromDisk, equal); diff != "" {
		t.Error(diff)
	}
	for _, name := range fromDisk[0].Metrics[""].Names() {
		if descs[name].Name != name {
			t.Errorf("nothing describes %s", name)
		}
	}
}
