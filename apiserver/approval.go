package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// Approval is one attempt of an approval task: what is asked, of whom, and what has been said.
type Approval struct {
	InstanceID ID            `json:"instance_id"`
	Project    string        `json:"project"`
	Workflow   string        `json:"workflow"`
	Task       string        `json:"task"`
	Attempt    int           `json:"attempt"`
	State      dag.TaskState `json:"state" doc:"The task's: while it is running, it waits."`
	Message    string        `json:"message" doc:"What is asked, with the values that it refers to."`
	Quorum     int           `json:"quorum" doc:"How many people must approve."`
	Users      []string      `json:"users,omitempty" doc:"People who may decide."`
	Roles      []string      `json:"roles,omitempty" doc:"Roles in the project that may decide, with those above them. Neither users nor roles: operators."`
	NotStarter bool          `json:"not_starter" doc:"Whoever started the instance may not decide."`
	MayDecide  bool          `json:"may_decide" doc:"It waits, and the caller may decide and has not yet."`
	Form       []FormField   `json:"form" nullable:"false" doc:"What whoever approves fills in."`
	Decisions  []Decision    `json:"decisions" nullable:"false" doc:"In the order of their moments."`
	CreatedAt  Time          `json:"created_at,omitempty"`
	ExpiresAt  Time          `json:"expires_at,omitempty"`
	OnExpiry   string        `json:"on_expiry,omitempty"`
}

// FormField is one field of an approval's form.
type FormField struct {
	Name        string        `json:"name"`
	Type        dag.ParamType `json:"type"`
	Description string        `json:"description,omitempty"`
	Default     *string       `json:"default,omitempty" doc:"Absent where whoever approves must give a value."`
	Enum        []string      `json:"enum,omitempty"`
	Pattern     string        `json:"pattern,omitempty"`
	Min         string        `json:"min,omitempty"`
	Max         string        `json:"max,omitempty"`
}

// Decision is what one person said.
type Decision struct {
	By      string            `json:"by"`
	Approve bool              `json:"approve"`
	Reason  string            `json:"reason,omitempty"`
	Values  map[string]string `json:"values,omitempty"`
	At      Time              `json:"at"`
}

type approve struct {
	TaskPath
	Body *struct {
		Attempt int             `json:"attempt,omitempty" minimum:"0" maximum:"2147483647" doc:"The attempt that was looked at: refused with 409 where another waits by now. Absent: the one that waits."`
		Reason  string          `json:"reason,omitempty" maxLength:"4096"`
		Values  map[string]Text `json:"values,omitempty" maxProperties:"100" doc:"Of the form's fields."`
	}
}

type reject struct {
	TaskPath
	Body *struct {
		Attempt int    `json:"attempt,omitempty" minimum:"0" maximum:"2147483647" doc:"The attempt that was looked at, as with approve."`
		Reason  string `json:"reason,omitempty" maxLength:"4096"`
	}
}

type approvalList struct{ Body List[Approval] }

type listApprovals struct{ Paged }

func (s *Server) approvalRoutes() {
	// Who may decide stands in the definition; whoever may see the instance is told whether that is he.
	view := access{need: roleViewer, object: ofInstance}
	add(s, spec{
		id: "list-approvals", method: "GET", path: "/approvals", tag: "control", summary: "List the approvals that wait for the caller, those of the latest instances first",
		access: access{object: perItem},
	}, s.listApprovals)
	add(s, spec{
		id: "approve-task", method: "POST", path: "/instances/{id}/tasks/{task}/approve", tag: "control", summary: "Approve what an approval task asks",
		status: 202, access: view, body: jsonBody, optional: true,
	}, s.approve)
	add(s, spec{
		id: "reject-task", method: "POST", path: "/instances/{id}/tasks/{task}/reject", tag: "control", summary: "Reject what an approval task asks, which ends it",
		status: 202, access: view, body: jsonBody, optional: true,
	}, s.reject)
}

// decides says that a verb is a person's own: another's of the same words is no repeat.
func decides(v dag.Verb) bool { return v == dag.VerbApprove || v == dag.VerbReject }

func (s *Server) approve(ctx context.Context, in *approve) (*controlledAnswer, error) {
	row := sql.ControlRow{Verb: dag.VerbApprove, Tasks: []string{in.Task}}
	if in.Body != nil {
		row.Attempt, row.Reason = in.Body.Attempt, in.Body.Reason
		row.Values = make(map[string]string, len(in.Body.Values))
		for name, value := range in.Body.Values {
			row.Values[name] = string(value)
		}
	}
	return s.decide(ctx, row)
}

func (s *Server) reject(ctx context.Context, in *reject) (*controlledAnswer, error) {
	row := sql.ControlRow{Verb: dag.VerbReject, Tasks: []string{in.Task}}
	if in.Body != nil {
		row.Attempt, row.Reason = in.Body.Attempt, in.Body.Reason
	}
	return s.decide(ctx, row)
}

// decide writes somebody's decision as a wish, unless the approval does not wait for it. The owner decides last:
// it counts one decision of each person for each attempt.
func (s *Server) decide(ctx context.Context, row sql.ControlRow) (*controlledAnswer, error) {
	in, who := callOf(ctx).instance, callOf(ctx).who
	t, err := s.store.Task(ctx, in.ID, row.Tasks[0])
	if err != nil {
		return nil, fmt.Errorf("read task: %w", err)
	}
	spec, err := s.approvalSpec(ctx, in, t)
	if err != nil {
		return nil, err
	}
	if spec == nil {
		return nil, wrongField(http.StatusConflict, "task", "wrong_type", t.Type, "task %q is no approval: nothing is to be decided", t.Name)
	}
	if why := mayNot(who, in, spec); why != "" {
		return nil, problem(http.StatusForbidden, why)
	}
	if wrong := spec.CheckValues(row.Values); row.Verb == dag.VerbApprove && len(wrong) > 0 {
		return nil, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	if row.Attempt == 0 {
		row.Attempt = t.Attempts
	}
	said, err := s.said(ctx, t, row.Attempt)
	if err != nil {
		return nil, err
	}
	for _, d := range said {
		if d.By != who.name {
			continue
		}
		if d.Approve == (row.Verb == dag.VerbApprove) {
			return s.asItIs(in), nil
		}
		return nil, wrongField(http.StatusConflict, "task", "decided", "", "you have %s it already, which stays so", map[bool]string{true: "approved", false: "rejected"}[d.Approve])
	}
	if t.State != dag.TaskRunning || t.Attempts != row.Attempt {
		return nil, wrongField(http.StatusConflict, "task", "wrong_state", string(t.State), "task %q does not wait for a decision on attempt %d: it is %s, its latest attempt is %d", t.Name, row.Attempt, t.State, t.Attempts)
	}
	return s.control(ctx, row, "")
}

// said lists the decisions on an attempt: those that count, and those that are on their way to a master.
func (s *Server) said(ctx context.Context, t sql.TaskRow, attempt int) ([]dag.Decision, error) {
	list, err := s.store.Decisions(ctx, t.InstanceID, t.Index, attempt)
	if err != nil {
		return nil, err
	}
	open, err := s.store.Controls(ctx, t.InstanceID)
	if err != nil {
		return nil, fmt.Errorf("read open wishes: %w", err)
	}
	for _, c := range open {
		if decides(c.Verb) && c.Attempt == attempt && slices.Equal(c.Tasks, []string{t.Name}) {
			list = append(list, dag.Decision{Task: t.Index, Number: attempt, By: c.By, Approve: c.Verb == dag.VerbApprove, Reason: c.Reason, Values: c.Values, At: c.At})
		}
	}
	return list, nil
}

// approvalSpec is what the instance's version says of an approval task; nil for a task of another type.
func (s *Server) approvalSpec(ctx context.Context, in sql.InstanceRow, t sql.TaskRow) (*dag.ApprovalSpec, error) {
	if t.Type != dag.TypeApproval {
		return nil, nil
	}
	plan, err := s.plans.get(ctx, in.WorkflowID, in.Version)
	if err != nil {
		return nil, fmt.Errorf("read version %d: %w", in.Version, err)
	}
	spec, _ := plan.Definition.Tasks[t.Index].Spec.(*dag.ApprovalSpec)
	return spec, nil
}

// mayNot says why somebody may not decide; "" where he may. Whoever holds less than an operator by his token
// decides nothing with it, even where he himself is asked by name.
func mayNot(who *principal, in sql.InstanceRow, spec *dag.ApprovalSpec) string {
	has := who.role(in.ProjectID)
	switch {
	case spec.NotStarter && who.name == in.CreatedBy:
		return "you have started this instance, so others must decide"
	case who.most < roleOperator:
		return "your token may only look"
	case spec.Approvers == nil:
		if has >= roleOperator {
			return ""
		}
		return "only operators of the project may decide"
	case slices.Contains(spec.Approvers.Users, who.name):
		return ""
	}
	for _, name := range spec.Approvers.Roles {
		if has >= parseRole(name) {
			return ""
		}
	}
	return "you are not among those who are asked"
}

// approvalsOf are the latest attempts of those of an instance's approval tasks that are wanted. rows are all its tasks.
func (s *Server) approvalsOf(ctx context.Context, in sql.InstanceRow, rows []sql.TaskRow, wanted func(sql.TaskRow) bool) ([]Approval, error) {
	var out []Approval
	var inst *dag.Instance
	for _, t := range rows {
		if t.Type != dag.TypeApproval || t.Attempts == 0 || !wanted(t) {
			continue
		}
		spec, err := s.approvalSpec(ctx, in, t)
		if err != nil {
			return nil, err
		}
		if inst == nil {
			if inst, err = s.asked(ctx, in, rows); err != nil {
				return nil, err
			}
		}
		face, err := s.approvalFace(ctx, in, inst, t, spec)
		if err != nil {
			return nil, err
		}
		out = append(out, face)
	}
	return out, nil
}

// asked is an instance with all that the text of an approval may refer to, and no more: its rows may be on the move.
func (s *Server) asked(ctx context.Context, in sql.InstanceRow, rows []sql.TaskRow) (*dag.Instance, error) {
	plan, err := s.plans.get(ctx, in.WorkflowID, in.Version)
	if err != nil {
		return nil, fmt.Errorf("read version %d: %w", in.Version, err)
	}
	inst := dag.NewInstance(plan, in.ID, dag.StartOptions{Params: in.Params, DryRun: in.DryRun})
	for _, t := range rows {
		inst.Tasks[t.Index].Outputs = t.Outputs
	}
	if inst.Facts, err = in.Facts(); err != nil {
		return nil, err
	}
	inst.Facts.ProjectParams, err = s.projectValues(ctx, in.ProjectID)
	return inst, err
}

func (s *Server) approvalFace(ctx context.Context, in sql.InstanceRow, inst *dag.Instance, t sql.TaskRow, spec *dag.ApprovalSpec) (Approval, error) {
	said, err := s.said(ctx, t, t.Attempts)
	if err != nil {
		return Approval{}, err
	}
	who := callOf(ctx).who
	out := Approval{
		InstanceID: ID(in.ID), Project: in.Project, Workflow: in.Workflow, Task: t.Name, Attempt: t.Attempts, State: t.State,
		Message: inst.ApprovalMessage(t.Index), Quorum: spec.Needed(), NotStarter: spec.NotStarter,
		MayDecide: t.State == dag.TaskRunning && mayNot(who, in, spec) == "" && !slices.ContainsFunc(said, func(d dag.Decision) bool { return d.By == who.name }),
		Form:      []FormField{}, Decisions: []Decision{}, CreatedAt: Time(t.StartedAt), ExpiresAt: Time(t.NextAt),
	}
	if spec.Approvers != nil {
		out.Users, out.Roles = spec.Approvers.Users, spec.Approvers.Roles
	}
	if t.State != dag.TaskRunning {
		out.ExpiresAt = 0
	} else if out.ExpiresAt != 0 {
		out.OnExpiry = spec.OnExpiry
	}
	for _, p := range spec.Fields() {
		out.Form = append(out.Form, FormField{
			Name: p.Name, Type: p.Type, Description: p.Description, Default: p.Default, Enum: p.Enum, Pattern: p.Pattern, Min: p.Min, Max: p.Max,
		})
	}
	for _, d := range said {
		out.Decisions = append(out.Decisions, Decision{By: d.By, Approve: d.Approve, Reason: d.Reason, Values: d.Values, At: Time(d.At)})
	}
	return out, nil
}

// listApprovals reads a page of what waits, and leaves out what the caller has no part in: a page may hold
// fewer than limit, even none, and still have a next_cursor.
func (s *Server) listApprovals(ctx context.Context, in *listApprovals) (*approvalList, error) {
	projects, all := callOf(ctx).who.projects()
	rows, next, err := s.store.Approvals(ctx, projects, all, in.page())
	if err != nil {
		return nil, fmt.Errorf("list approvals: %w", err)
	}
	out := &approvalList{Body: List[Approval]{Items: []Approval{}, NextCursor: next}}
	for len(rows) > 0 {
		id, n := rows[0].InstanceID, 1
		for n < len(rows) && rows[n].InstanceID == id {
			n++
		}
		faces, err := s.waitsForMe(ctx, id, rows[:n])
		if err != nil {
			return nil, err
		}
		out.Body.Items = append(out.Body.Items, faces...)
		rows = rows[n:]
	}
	return out, nil
}

// waitsForMe are those approvals of one instance on which the caller may decide.
func (s *Server) waitsForMe(ctx context.Context, id int64, waiting []sql.ApprovalRow) ([]Approval, error) {
	in, err := s.store.Instance(ctx, id)
	if errors.Is(err, sql.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read instance %d: %w", id, err)
	}
	tasks, err := s.allTasks(ctx, id)
	if err != nil {
		return nil, err
	}
	faces, err := s.approvalsOf(ctx, in, tasks, func(t sql.TaskRow) bool {
		return slices.ContainsFunc(waiting, func(a sql.ApprovalRow) bool { return a.Task == t.Index })
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(faces, func(a Approval) bool { return !a.MayDecide }), nil
}
