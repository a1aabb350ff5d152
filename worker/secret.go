package worker

import (
	"fmt"
	"maps"
	"slices"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/mask"
	"github.com/porpoise/porpoise/worker/task"
)

// unpack puts what older workers must not find where the task types look for it.
func unpack(d *rpc.Dispatch) {
	if f := d.GetFiles(); f != nil {
		d.Spec = f.Spec
	}
	s := d.GetSecrets()
	if len(s.GetSpec()) > 0 {
		d.Spec = s.Spec
	}
	if len(s.GetEnv()) > 0 {
		env := maps.Clone(d.Env)
		if env == nil {
			env = make(map[string]string, len(s.Env))
		}
		maps.Copy(env, s.Env)
		d.Env = env
	}
}

// hide takes the values of secrets out of a call's result. An output that holds one makes it a failure: masked, it
// would be wrong, and whoever uses it would not know.
func hide(r task.Result, secrets *mask.Set) task.Result {
	for _, name := range slices.Sorted(maps.Keys(r.Outputs)) {
		if secrets.Holds(r.Outputs[name]) {
			return task.Result{Reason: "output_secret", Message: fmt.Sprintf("output %q holds the value of a secret, which would be kept and shown with it", name)}
		}
	}
	r.Message = secrets.Text(r.Message)
	return r
}
