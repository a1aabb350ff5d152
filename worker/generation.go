package worker

import (
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/runner"
)

// restored is the reason of attempts that are ended because their cluster was restored from a backup.
const restored = "cluster_restored"

// live takes the generation that a master tells. With a new one the cluster was restored from a backup, and
// knows nothing of what this worker has: reports are dropped, and attempts ended without one. A master of an
// earlier generation is refused; one that tells none is of the version before.
func (c *Core) live(generation int64) bool {
	switch {
	case generation == 0 || generation == c.kept.life:
		return true
	case generation < c.kept.life:
		return false
	}
	c.log.Warn("the cluster was restored from a backup: what is from before is dropped", "generation", generation,
		"before", c.kept.life, "attempts", len(c.attempts), "reports", len(c.outbox.items))
	c.kept.enter(generation)
	for _, id := range sorted(c.outbox.items) {
		c.kept.gone(id)
		c.outbox.drop(id)
	}
	c.finished, c.epochs = newRecent[string, *rpc.Report](maxFinished), newRecent[int64, int64](maxEpochs)
	for _, mark := range sorted(c.attempts) {
		a := c.attempts[mark]
		a.void = true
		c.beats.Remove(mark)
		c.kill(a, &runner.Stop{Mark: mark, GraceMs: a.grace, Reason: restored})
	}
	return true
}

// bury ends an attempt of an earlier generation, of which nobody is to hear.
func (c *Core) bury(a *attempt, r *rpc.Report) {
	c.report(a.mark, r, "") // it ends what the disk says has begun
	id := c.outbox.latest[a.mark]
	c.outbox.drop(id)
	c.kept.gone(id)
}
