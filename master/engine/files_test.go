package engine

import (
	"slices"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
)

func TestADispatchNamesWhatAnAttemptUsesAndLeaves(t *testing.T) {
	t.Parallel()
	plan, errs := dag.ParsePlan([]byte(`name: w
tasks:
  - {name: plain, type: shell, script: x}
  - {name: a, type: shell, script: x, artifacts: [r.csv, out/]}
  - {name: b, type: shell, script: x, needs: [a], uses: [a/out/]}
`), "yaml")
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	plain := &rpc.Dispatch{Spec: []byte("spec")}
	putFiles(plain, plan, 0)
	if plain.Files != nil || string(plain.Spec) != "spec" {
		t.Errorf("without files it is %v", plain)
	}
	leaves := &rpc.Dispatch{Spec: []byte("spec")}
	putFiles(leaves, plan, 1)
	if string(leaves.Files.GetSpec()) != "spec" || string(leaves.Spec) == "spec" || !slices.Equal(leaves.Files.GetArtifacts(), []string{"r.csv", "out/"}) {
		t.Errorf("it is %v", leaves)
	}
	uses := &rpc.Dispatch{Secrets: &rpc.Secrets{Spec: []byte("with secrets")}}
	putFiles(uses, plan, 2)
	in := uses.Files.GetInputs()
	if string(uses.Files.GetSpec()) != "with secrets" || len(uses.Secrets.Spec) != 0 || len(in) != 1 || in[0].GetTask() != 1 || in[0].GetTaskName() != "a" || in[0].GetName() != "out/" {
		t.Errorf("it is %v", uses)
	}
}
