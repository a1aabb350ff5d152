//go:build failpoints

package sql

import (
	"fmt"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/failpoint"
)

// point hits the failpoints of what the batch holds, before or after its COMMIT. An error is
// that of a database which is away: after the COMMIT the caller can't know of it.
func (b *batch) point(side string) error {
	seen := map[string]bool{}
	for _, o := range b.ops {
		for _, name := range o.steps() {
			if seen[name] {
				continue
			}
			seen[name] = true
			if err := failpoint.Hit(name + side); err != nil {
				return fmt.Errorf("%w: %w", ErrUnavailable, err)
			}
		}
	}
	return nil
}

// steps names what an operation does.
func (o *operation) steps() []string {
	switch {
	case o.start != nil:
		return []string{"api.commit"}
	case o.control != nil:
		return []string{"control.write"}
	case o.commit == nil:
		return []string{"cmd.claim"}
	}
	var names []string
	if o.commit.Claim != nil {
		names = append(names, "cmd.claim")
	}
	if in := o.commit.Instance; in.Round == 1 && in.Seq > 0 && len(o.commit.Effects.Tasks) == len(in.Tasks) {
		names = append(names, "task.insert")
	}
	for _, a := range o.commit.Effects.Attempts {
		switch {
		case a.State == dag.AttemptDispatched:
			names = append(names, "attempt.mark")
		case a.State.Final():
			names = append(names, "report.commit")
		}
	}
	if o.commit.Release {
		names = append(names, "inst.finish")
	}
	if o.commit.wakes() {
		names = append(names, "parent.wake")
	}
	return names
}
