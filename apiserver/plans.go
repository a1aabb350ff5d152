package apiserver

import (
	"context"
	"fmt"
	"sync"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// maxPlans bounds the plans in memory. One of 10,000 tasks takes about 10 MB, most take
// a few KB; beyond the bound all are dropped and read again.
const maxPlans = 256

// plans keeps versions ready to use: they never change, so they never go stale.
type plans struct {
	store Store

	mu   sync.Mutex
	kept map[planKey]*dag.Plan
}

type planKey struct {
	workflow int64
	version  int
}

func newPlans(store Store) *plans {
	return &plans{store: store, kept: map[planKey]*dag.Plan{}}
}

// get returns the plan of a version; sql.ErrNotFound where there is none.
func (p *plans) get(ctx context.Context, workflowID int64, version int) (*dag.Plan, error) {
	key := planKey{workflowID, version}
	p.mu.Lock()
	plan := p.kept[key]
	p.mu.Unlock()
	if plan != nil {
		return plan, nil
	}
	v, err := p.store.Version(ctx, workflowID, version)
	if err != nil {
		return nil, fmt.Errorf("read version %d of workflow %d: %w", version, workflowID, err)
	}
	plan, err = planOf(v)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) >= maxPlans {
		clear(p.kept)
	}
	p.kept[key] = plan
	return plan, nil
}

func planOf(v sql.Version) (*dag.Plan, error) {
	plan, wrong := dag.ParsePlan([]byte(v.Text), v.Format)
	if len(wrong) > 0 {
		return nil, fmt.Errorf("version %d of workflow %d can no longer be read: %w", v.Version, v.WorkflowID, wrong[0])
	}
	return plan, nil
}
