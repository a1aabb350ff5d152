package sql

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// ApprovalRow is an attempt of an approval task that waits for people.
type ApprovalRow struct {
	InstanceID int64
	Task       int
	Attempt    int
	CreatedAt  dag.Millis
}

// controlArgs is what a wish says beside its verb and its tasks, as the row has it.
type controlArgs struct {
	Reason string            `json:"reason,omitempty"`
	Values map[string]string `json:"values,omitempty"`
}

func encodeArgs(c *ControlRow) string {
	if c.Reason == "" && len(c.Values) == 0 {
		return ""
	}
	text, err := json.Marshal(controlArgs{c.Reason, c.Values})
	if err != nil {
		panic(fmt.Sprintf("sql: strings have no JSON: %v", err))
	}
	return string(text)
}

func (c *ControlRow) decodeArgs(text string) error {
	if text == "" {
		return nil
	}
	var args controlArgs
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		return fmt.Errorf("decode args of control %d: %w", c.ID, err)
	}
	c.Reason, c.Values = args.Reason, args.Values
	return nil
}

var (
	approvalUpsert = &table{
		name: "approval",
		keys: []string{"instance_id", "task_index"},
		cols: []string{"instance_id", "task_index", "attempt", "created_at"},
		sets: []string{"attempt", "created_at"},
	}
	decisionUpsert = &table{
		name: "decision",
		keys: []string{"instance_id", "task_index", "attempt", "decided_by"},
		cols: []string{"instance_id", "task_index", "attempt", "decided_by", "approve", "reason", "form_values", "decided_at"},
		sets: []string{"decided_at"}, // the very same row, of a commit whose answer was lost
	}
)

// approvals notes which approval tasks wait from now on, or no longer, and what people said to them.
func (b *batch) approvals(ctx context.Context, ops []*operation) error {
	var waiting, decisions []any
	for _, o := range ops {
		t := o.commit
		last := map[int64]*dag.Attempt{}
		for i := range t.Effects.Attempts {
			a := &t.Effects.Attempts[i]
			if t.Plan.Definition.Tasks[a.Task].Type == dag.TypeApproval {
				last[int64(a.Task)] = a
			}
		}
		for _, task := range sortedKeys(last) {
			if a := last[task]; a.State.Final() {
				err := b.tx.exec(ctx, `DELETE FROM approval WHERE instance_id = ? AND task_index = ?`, []any{t.Instance.ID, task}, anyRows)
				if err != nil {
					return fmt.Errorf("forget an approval: %w", err)
				}
			} else {
				waiting = append(waiting, t.Instance.ID, task, int64(a.Number), int64(a.StartedAt))
			}
		}
		for i := range t.Effects.Decisions {
			d := &t.Effects.Decisions[i]
			decisions = append(decisions, t.Instance.ID, int64(d.Task), int64(d.Number), d.By, flag(d.Approve), d.Reason, encodeMap(d.Values), int64(d.At))
		}
	}
	if err := b.rows(ctx, approvalUpsert, b.s.dial.upsert, waiting); err != nil {
		return fmt.Errorf("write approvals: %w", err)
	}
	if err := b.rows(ctx, decisionUpsert, b.s.dial.upsert, decisions); err != nil {
		return fmt.Errorf("write decisions: %w", err)
	}
	return nil
}

type approvalCursor struct{ Instance, Task int64 }

// Approvals returns a page of the approvals that wait in the projects, those of the latest instances first; with
// all, of every project.
func (s *Store) Approvals(ctx context.Context, projects []int64, all bool, page Page) ([]ApprovalRow, string, error) {
	after := approvalCursor{Instance: 1<<63 - 1}
	if err := page.decode("approvals", &after); err != nil {
		return nil, "", err
	}
	if !all && len(projects) == 0 {
		return nil, "", nil
	}
	limit := page.limit()
	args := []any{after.Instance, after.Instance, after.Task}
	of := ""
	if !all {
		of = ` AND i.project_id IN (` + marks(len(projects)) + `)`
		for _, id := range projects {
			args = append(args, id)
		}
	}
	out, err := collect(ctx, s, func(scan func(...any) error) (a ApprovalRow, err error) {
		return a, scan(&a.InstanceID, &a.Task, &a.Attempt, &a.CreatedAt)
	}, `SELECT a.instance_id, a.task_index, a.attempt, a.created_at FROM approval a JOIN workflow_instance i ON i.id = a.instance_id
		WHERE (a.instance_id < ? OR a.instance_id = ? AND a.task_index > ?)`+of+` ORDER BY a.instance_id DESC, a.task_index LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, "", fmt.Errorf("read approvals: %w", err)
	}
	return cut(out, limit, "approvals", func(a ApprovalRow) any { return approvalCursor{a.InstanceID, int64(a.Task)} })
}

// maxDecisions is more than the largest quorum.
const maxDecisions = 200

// Decisions returns what people said to an attempt of an approval task, in the order of their moments.
func (s *Store) Decisions(ctx context.Context, instance int64, task, attempt int) ([]dag.Decision, error) {
	rows, err := collect(ctx, s, scanDecision, `SELECT `+decisionColumns+` FROM decision d WHERE d.instance_id = ? AND d.task_index = ? AND d.attempt = ?
		ORDER BY d.decided_at, d.decided_by LIMIT ?`, instance, task, attempt, maxDecisions)
	if err != nil {
		return nil, fmt.Errorf("read decisions on task %d of instance %d: %w", task, instance, err)
	}
	out := make([]dag.Decision, len(rows))
	for i := range rows {
		out[i] = rows[i].Decision
	}
	return out, nil
}

// decisionRow is a decision with the instance that it is about.
type decisionRow struct {
	instance int64
	dag.Decision
}

const decisionColumns = `d.instance_id, d.task_index, d.attempt, d.decided_by, d.approve, d.reason, d.form_values, d.decided_at`

func scanDecision(scan func(...any) error) (decisionRow, error) {
	var d decisionRow
	var values string
	err := scan(&d.instance, &d.Task, &d.Number, &d.By, &d.Approve, &d.Reason, &values, &d.At)
	if err != nil {
		return d, err
	}
	if d.Values, err = decodeMap(values); err != nil {
		return d, fmt.Errorf("values of a decision on task %d of instance %d: %w", d.Task, d.instance, err)
	}
	return d, nil
}

// addDecisions adds to the live attempts of approval tasks what people have said to them.
func (s *Store) addDecisions(ctx context.Context, out []Claimed, at map[int64]int, ids []any) error {
	rows, err := collect(ctx, s, scanDecision, `SELECT `+decisionColumns+` FROM decision d JOIN approval a
		ON a.instance_id = d.instance_id AND a.task_index = d.task_index AND a.attempt = d.attempt
		WHERE d.instance_id IN (`+marks(len(ids))+`) ORDER BY d.instance_id, d.task_index, d.decided_at, d.decided_by`, ids...)
	if err != nil {
		return err
	}
	for _, d := range rows {
		live := out[at[d.instance]].Attempts
		for i := range live {
			if live[i].Task == d.Task && live[i].Number == d.Number {
				live[i].Decisions = append(live[i].Decisions, d.Decision)
			}
		}
	}
	return nil
}
