package site

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/examples"
)

func TestANewNodeRunsItsExamplesOnce(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	s, err := Standalone(ctx, Options{Binary: binary, LogLevel: "info", Examples: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	ended := func() map[string]dag.InstanceState {
		t.Helper()
		list, err := s.Client.Instances(ctx, client.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		states := map[string]dag.InstanceState{}
		for _, in := range list {
			if in, err = s.Client.Wait(ctx, in.ID, nil); err != nil {
				t.Fatal(err)
			}
			states[in.Workflow+" "+in.ID] = in.State
		}
		return states
	}
	// The node is ready before they are written: its first page waits for nothing.
	err = s.Until(ctx, "two instances", func() error {
		list, err := s.Client.Instances(ctx, client.Filter{})
		if err == nil && len(list) < 2 {
			err = errors.New("they are not there yet")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	first := ended()
	success, failed := 0, 0
	for _, state := range first {
		switch state { //nolint:exhaustive // the others fail the test below
		case dag.InstanceSuccess:
			success++
		case dag.InstanceFailed:
			failed++
		}
	}
	if len(first) != 2 || success != 1 || failed != 1 {
		t.Fatalf("a new node's instances are %v, want one that succeeded and one that failed", first)
	}
	node := s.Part("standalone")
	node.Kill()
	if err := s.Restart(ctx, node); err != nil {
		t.Fatal(err)
	}
	if again := ended(); len(again) != len(first) {
		t.Errorf("after another start: %v, want what was there", again)
	}
	// Nobody has chosen a password: the printed one is still of use.
	if _, err := os.Stat(filepath.Join(s.Dir, "standalone", "admin-password")); err != nil {
		t.Error(err)
	}
}

// TestEveryExampleRuns starts the examples that need nothing but their worker as a person would.
func TestEveryExampleRuns(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	s, err := Standalone(ctx, Options{Binary: binary, LogLevel: "info", Examples: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	up := s.URL + "/healthz"
	params := map[string]map[string]string{
		"http and wait": {"url": up}, "rollout": {"health": up}, "nightly sales": {"table": "fact_sales"},
		"refund": {"amount": "50"}, "report of a month": {"month": "2026-11"},
	}
	elsewhere := map[string]string{
		"order":        "it wants an agent: TestOrdersArePlacedOnceByAFlakyAgent",
		"sales report": "it waits for runs of others for hours",
	}
	ids := map[string]string{}
	for _, e := range examples.All() {
		def, wrong := dag.Parse(e.Text, "yaml")
		if len(wrong) > 0 {
			t.Fatal(wrong)
		}
		if elsewhere[def.Name] != "" {
			continue
		}
		if ids[def.Name], err = s.Client.StartWorkflow(ctx, "examples", def.Name, client.Start{Params: params[def.Name]}); err != nil {
			t.Fatal(err)
		}
	}
	for name, id := range ids {
		in, err := s.Client.Wait(ctx, id, nil)
		if err != nil || in.State != dag.InstanceSuccess {
			t.Errorf("%s is %s (%s), %v", name, in.State, in.Reason, err)
		}
	}
	if len(ids) < 15 {
		t.Errorf("%d examples were run", len(ids))
	}
}

func TestANodeWithoutExamplesIsEmpty(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	s := standalone(ctx, t)
	projects, err := s.Client.Projects(ctx)
	if err != nil || len(projects) != 0 {
		t.Errorf("projects %+v, %v; want none", projects, err)
	}
}
