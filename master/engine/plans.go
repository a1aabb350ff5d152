package engine

import (
	"errors"
	"fmt"
	"sync"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// maxPlans bounds the compiled versions in memory; they are compiled again when needed.
const maxPlans = 1_000

// plans keeps compiled versions, which never change.
type plans struct {
	mu    sync.Mutex
	known map[planKey]*dag.Plan
	order []planKey // as they came: the oldest makes room
}

type planKey struct {
	workflow int64
	version  int
}

func newPlans() *plans { return &plans{known: make(map[planKey]*dag.Plan)} }

func (p *plans) get(v sql.Version) (*dag.Plan, error) {
	key := planKey{v.WorkflowID, v.Version}
	p.mu.Lock()
	plan := p.known[key]
	p.mu.Unlock()
	if plan != nil {
		return plan, nil
	}
	plan, err := compile(v)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known[key] == nil {
		p.order = append(p.order, key)
	}
	p.known[key] = plan
	if len(p.order) > maxPlans {
		delete(p.known, p.order[0])
		p.order = p.order[1:]
	}
	return plan, nil
}

func compile(v sql.Version) (*dag.Plan, error) {
	plan, wrong := dag.ParsePlan([]byte(v.Text), v.Format)
	if len(wrong) == 0 {
		return plan, nil
	}
	errs := make([]error, len(wrong))
	for i, w := range wrong {
		errs[i] = w
	}
	return nil, fmt.Errorf("version %d of workflow %d: %w", v.Version, v.WorkflowID, errors.Join(errs...))
}
