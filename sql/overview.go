package sql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag"
)

// ProjectActivity is what a list of projects says of each: how many workflows it has, and
// how many of its instances were created since a moment, by state, up to MaxActivity of each.
type ProjectActivity struct {
	Workflows int
	Instances map[dag.InstanceState]int
}

// MaxActivity bounds what ProjectActivity counts of a state: a count that high means "at least".
const MaxActivity = 1000

// ProjectActivities returns the activity of the given projects since a moment, by project id.
// Each state of each project is a range of one index, cut at MaxActivity rows.
func (s *Store) ProjectActivities(ctx context.Context, projects []int64, since dag.Millis) (map[int64]ProjectActivity, error) {
	out := make(map[int64]ProjectActivity, len(projects))
	if len(projects) == 0 {
		return out, nil
	}
	type count struct {
		project int64
		state   string
		n       int
	}
	ids := make([]any, len(projects))
	var streams []stream
	for i, p := range projects {
		ids[i] = p
		out[p] = ProjectActivity{Instances: map[dag.InstanceState]int{}}
		for _, state := range instanceStates {
			streams = append(streams, stream{args: []any{p, string(state), p, string(state), since, MaxActivity}})
		}
	}
	scan := func(scan func(...any) error) (c count, err error) { return c, scan(&c.project, &c.state, &c.n) }
	have, err := collect(ctx, s, scan, `SELECT project_id, '', COUNT(*) FROM workflow WHERE deleted_at = 0 AND project_id IN (`+marks(len(ids))+`) GROUP BY project_id`, ids...)
	if err != nil {
		return nil, fmt.Errorf("count workflows: %w", err)
	}
	for part := range slices.Chunk(streams, maxStreams) {
		var args []any
		for _, st := range part {
			args = append(args, st.args...)
		}
		const one = `SELECT ? AS p, ? AS s, COUNT(*) AS n FROM (SELECT id FROM workflow_instance WHERE project_id = ? AND state = ? AND created_at >= ? LIMIT ?) AS c`
		got, err := collect(ctx, s, scan, strings.Repeat(one+` UNION ALL `, len(part)-1)+one, args...)
		if err != nil {
			return nil, fmt.Errorf("count instances: %w", err)
		}
		have = append(have, got...)
	}
	for _, c := range have {
		a := out[c.project]
		switch {
		case c.state == "":
			a.Workflows = c.n
		case c.n > 0:
			a.Instances[dag.InstanceState(c.state)] = c.n
		}
		out[c.project] = a
	}
	return out, nil
}

// WorkflowActivity is what a list of workflows says of each beside its row: who saved the
// newest version, and the last instances, the newest first.
type WorkflowActivity struct {
	ChangedBy string
	Last      []LastInstance
}

// LastInstance is one of the last instances of a workflow.
type LastInstance struct {
	WorkflowID int64
	ID         int64
	State      dag.InstanceState
	CreatedAt  dag.Millis
}

// WorkflowActivities returns the activity of the given workflows with up to last instances
// of each, by workflow id. It reads the heads of one stream per state and workflow, which an
// index holds in order, so that the length of the history does not matter.
func (s *Store) WorkflowActivities(ctx context.Context, workflows []int64, last int) (map[int64]WorkflowActivity, error) {
	out := make(map[int64]WorkflowActivity, len(workflows))
	if len(workflows) == 0 {
		return out, nil
	}
	type author struct {
		workflow int64
		by       string
	}
	ids := make([]any, len(workflows))
	var streams []stream
	for i, w := range workflows {
		ids[i] = w
		for _, state := range instanceStates {
			streams = append(streams, stream{args: []any{w, string(state), last}})
		}
	}
	authors, err := collect(ctx, s, func(scan func(...any) error) (a author, err error) { return a, scan(&a.workflow, &a.by) },
		`SELECT w.id, COALESCE(v.created_by, '') FROM workflow w
			LEFT JOIN workflow_version v ON v.workflow_id = w.id AND v.version = w.latest WHERE w.id IN (`+marks(len(ids))+`)`, ids...)
	if err != nil {
		return nil, fmt.Errorf("read who changed workflows: %w", err)
	}
	for _, a := range authors {
		out[a.workflow] = WorkflowActivity{ChangedBy: a.by}
	}
	for part := range slices.Chunk(streams, maxStreams) {
		var args []any
		for _, st := range part {
			args = append(args, st.args...)
		}
		const one = `SELECT * FROM (SELECT workflow_id, id, state, created_at FROM workflow_instance WHERE workflow_id = ? AND state = ?
			ORDER BY created_at DESC, id DESC LIMIT ?) AS h`
		got, err := collect(ctx, s, func(scan func(...any) error) (l LastInstance, err error) {
			return l, scan(&l.WorkflowID, &l.ID, &l.State, &l.CreatedAt)
		}, strings.Repeat(one+` UNION ALL `, len(part)-1)+one, args...)
		if err != nil {
			return nil, fmt.Errorf("read the last instances of workflows: %w", err)
		}
		for _, l := range got {
			a := out[l.WorkflowID]
			a.Last = append(a.Last, l)
			out[l.WorkflowID] = a
		}
	}
	for id, a := range out {
		slices.SortFunc(a.Last, func(x, y LastInstance) int {
			if c := compare(int64(y.CreatedAt), int64(x.CreatedAt)); c != 0 {
				return c
			}
			return compare(y.ID, x.ID)
		})
		a.Last = a.Last[:min(len(a.Last), last)]
		out[id] = a
	}
	return out, nil
}
