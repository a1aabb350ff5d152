package failover

import (
	"context"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

const (
	// settleWithin is how long the lot of a taken attempt may be open before its takeover is
	// written as finished: longer than a lost worker is waited for.
	settleWithin = 30 * time.Second
	// maxAccounts bounds the takeovers that wait to be written while the store is away.
	maxAccounts = 1_000
)

// account is a takeover that is told of in the store.
type account struct {
	row   sql.FailoverRow
	tally Tally // nil where nothing is left to be counted
	saved bool
	kept  bool // among those to be written
}

// The names of the steps of a takeover.
const (
	stepAbsent  = "absent"  // the master was missed in the registry first
	stepTaken   = "taken"   // its instances have their new owner and are in memory
	stepSettled = "settled" // each of their attempts is adopted or lost
	stepSilent  = "silent"  // the worker's last word
	stepLost    = "lost"    // its attempts were given up
)

// account returns the takeover of an owner that is under way, or begins it.
func (f *Failover) account(owner string, now time.Time) *account {
	if a := f.open[owner]; a != nil {
		return a
	}
	since := now
	if at, known := f.absent[owner]; known {
		since = at
	}
	cause := "the master left the registry"
	if f.own(owner) {
		cause = "the master was started again"
	}
	dead := rpc.ParseProcess(owner)
	a := &account{
		tally: f.Instances.NewTally(),
		row: sql.FailoverRow{
			Kind: sql.FailoverMaster, Node: dead.Node, Incarnation: dead.Incarnation, Master: f.Self.String(), Cause: cause,
			DetectedAt: dag.MillisOf(since), Steps: []sql.FailoverStep{{Name: stepAbsent, At: dag.MillisOf(since)}},
		},
	}
	f.open[owner] = a
	return a
}

// took notes that some were taken. A takeover that got nothing, since others were quicker, is
// not told of.
func (f *Failover) took(a *account, ids []int64) {
	if len(ids) == 0 {
		return
	}
	a.row.Instances += len(ids)
	if a.row.Steps[len(a.row.Steps)-1].Name != stepTaken {
		a.row.Steps = append(a.row.Steps, sql.FailoverStep{Name: stepTaken})
	}
	last := &a.row.Steps[len(a.row.Steps)-1]
	last.At = dag.MillisOf(f.Now())
	last.Instances = append(last.Instances, ids[:min(len(ids), sql.MaxTaken-len(last.Instances))]...)
	a.saved = false
	f.keep(a)
}

// WorkerLost tells of a worker whose attempts here ended with it. Any goroutine may call it.
func (f *Failover) WorkerLost(node, incarnation, cause string, silent time.Time, instances, attempts int) {
	now := dag.MillisOf(f.Now())
	f.keep(&account{row: sql.FailoverRow{
		Kind: sql.FailoverWorker, Node: node, Incarnation: incarnation, Master: f.Self.String(), Cause: cause,
		DetectedAt: dag.MillisOf(silent), FinishedAt: now, Instances: instances, Lost: attempts,
		Steps: []sql.FailoverStep{{Name: stepSilent, At: dag.MillisOf(silent)}, {Name: stepLost, At: now}},
	}})
}

// keep leaves an account to be written. Beyond the bound the oldest is given up.
func (f *Failover) keep(a *account) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a.kept {
		return
	}
	a.kept = true
	if len(f.accounts) >= maxAccounts {
		f.accounts = f.accounts[1:]
	}
	f.accounts = append(f.accounts, a)
}

// write saves the accounts that changed, and forgets those that are finished.
func (f *Failover) write(ctx context.Context, now time.Time) {
	f.mu.Lock()
	accounts := f.accounts
	f.accounts = nil
	f.mu.Unlock()
	var left []*account
	for i, a := range accounts {
		f.settle(a, now)
		if a.saved {
			left = append(left, a)
			continue
		}
		row, err := f.Store.SaveFailover(ctx, a.row)
		if err != nil {
			f.log.Debug("failover not written, it will be", "error", err)
			left = append(left, accounts[i:]...)
			break
		}
		a.row, a.saved = row, true
		if row.FinishedAt == 0 {
			left = append(left, a)
			continue
		}
		for owner, open := range f.open {
			if open == a {
				delete(f.open, owner)
			}
		}
	}
	f.mu.Lock()
	f.accounts = append(left, f.accounts...)
	f.mu.Unlock()
}

// settle finishes an account once the lot of all its attempts is known, or has been open for too long.
func (f *Failover) settle(a *account, now time.Time) {
	if a.row.FinishedAt != 0 || a.tally == nil {
		return
	}
	adopted, lost, waiting := a.tally.Counts()
	if adopted != a.row.Adopted || lost != a.row.Lost {
		a.row.Adopted, a.row.Lost, a.saved = adopted, lost, false
	}
	last := a.row.Steps[len(a.row.Steps)-1].At
	if waiting == 0 || dag.MillisOf(now).Sub(last) > settleWithin {
		at := max(dag.MillisOf(now), last) // now is when this look began, and it may have taken them itself
		a.row.FinishedAt, a.saved = at, false
		a.row.Steps = append(a.row.Steps, sql.FailoverStep{Name: stepSettled, At: at})
	}
}
