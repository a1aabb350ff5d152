package noop_test

import (
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/worker/task/tasktest"
)

func TestMain(m *testing.M) { tasktest.Main(m) }

func TestNoopKeepsTheContract(t *testing.T) {
	t.Parallel()
	tasktest.Run(t, tasktest.Example{Type: "noop", Quick: dag.NoopSpec{}})
}
