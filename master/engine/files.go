package engine

import (
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
)

// newerSpec stands in place of the spec of a task that has files. Its key is one that no worker knows: an older one, which
// would neither fetch the files nor keep them, refuses it and does not run half of the task.
const newerSpec = `{"artifacts":true}`

// putFiles says which artifacts an attempt uses and leaves. The spec moves to the part of the message that older workers
// don't read.
func putFiles(message *rpc.Dispatch, plan *dag.Plan, task int) {
	t := &plan.Definition.Tasks[task]
	if len(t.Artifacts)+len(t.Uses) == 0 {
		return
	}
	files := &rpc.Files{Spec: message.Spec, Artifacts: t.Artifacts}
	message.Spec = []byte(newerSpec)
	if s := message.GetSecrets(); len(s.GetSpec()) > 0 {
		files.Spec, s.Spec = s.Spec, nil
	}
	for _, use := range t.Uses {
		from, _ := plan.Task(use.Task)
		files.Inputs = append(files.Inputs, &rpc.Input{Task: int32(from), TaskName: use.Task, Name: use.Artifact})
	}
	message.Files = files
}
