package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/interval"
	"github.com/porpoise/porpoise/sql"
)

// Explanation says why something is as it is: text for people, code and args for programs.
type Explanation struct {
	Code   string            `json:"code"`
	Args   map[string]string `json:"args,omitempty"`
	Text   string            `json:"text"`
	Since  Time              `json:"since,omitempty"`
	Causes []Explanation     `json:"causes,omitempty"`
}

type explain struct {
	InstancePath
	Task string `query:"task" maxLength:"512" doc:"Explain this task instead of the instance."`
}

type explanationAnswer struct{ Body Explanation }

func (s *Server) explainRoutes() {
	add(s, spec{id: "explain", method: "GET", path: "/instances/{id}/explain", tag: "instances", summary: "Say why an instance or a task is as it is", access: access{need: roleViewer, object: ofInstance}}, s.explain)
}

func (s *Server) explain(ctx context.Context, in *explain) (*explanationAnswer, error) {
	row := callOf(ctx).instance
	e, err := s.explanationOf(ctx, row, in.Task, 0)
	if err != nil {
		return nil, err
	}
	if id, ok := sql.BackfillOf(row.TriggerKey); ok {
		if e.Args == nil {
			e.Args = map[string]string{}
		}
		e.Args["backfill"] = strconv.FormatInt(id, 10)
		e.Text += fmt.Sprintf("; backfill %d started the instance", id)
	}
	return &explanationAnswer{Body: e}, nil
}

// explanationOf explains an instance, or its task of that name, with the children below it; depth is how far
// below the asked instance this one is.
func (s *Server) explanationOf(ctx context.Context, row sql.InstanceRow, name string, depth int) (e Explanation, err error) {
	plan, err := s.plans.get(ctx, row.WorkflowID, row.Version)
	if err != nil {
		return e, err
	}
	inst, err := s.rebuild(ctx, row, plan)
	if err != nil {
		return e, err
	}
	task := -1
	if name != "" {
		i, ok := plan.Task(name)
		if !ok || i >= len(inst.Tasks) {
			return e, notFound()
		}
		task = i
	}
	return s.explainTask(ctx, row, inst, plan, task, depth)
}

// explainTask explains an instance that was made of its rows, or one task of it; task -1 is the instance itself.
func (s *Server) explainTask(ctx context.Context, row sql.InstanceRow, inst *dag.Instance, plan *dag.Plan, task, depth int) (Explanation, error) {
	e := explanationFace(inst.Explain(s.at(), task))
	if err := s.addQueues(ctx, row, inst, plan, task, &e); err != nil {
		return e, err
	}
	if err := s.addMessages(ctx, row.ID, inst, plan, &e); err != nil {
		return e, err
	}
	if err := s.addDependents(ctx, row, inst, plan, &e); err != nil {
		return e, err
	}
	if err := s.addChildren(ctx, inst, plan, depth, &e); err != nil {
		return e, err
	}
	if err := s.addPlace(ctx, inst, &e); err != nil {
		return e, err
	}
	return e, s.addHold(ctx, inst.State, &e)
}

// rebuild makes the instance of its rows, as a master does when it takes it over.
func (s *Server) rebuild(ctx context.Context, row sql.InstanceRow, plan *dag.Plan) (*dag.Instance, error) {
	tasks, err := s.allTasks(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	var live []dag.Attempt
	for _, t := range tasks {
		if live, err = s.addLive(ctx, live, t); err != nil {
			return nil, err
		}
	}
	if row.NeedsKept() {
		if row.Kept, err = s.store.Kept(ctx, row.ID); err != nil {
			return nil, err
		}
	}
	inst, err := sql.Rebuild(plan, &row, tasks, live)
	if errors.Is(err, dag.ErrDamaged) {
		return nil, problem(http.StatusConflict, err.Error())
	}
	return inst, err
}

// addLive reads the attempt that a task has in flight, if it has one.
func (s *Server) addLive(ctx context.Context, live []dag.Attempt, t sql.TaskRow) ([]dag.Attempt, error) {
	switch t.State {
	case dag.TaskDispatched, dag.TaskRunning, dag.TaskKilling:
		a, err := s.store.Attempt(ctx, t.InstanceID, t.Index, t.Attempts)
		if errors.Is(err, sql.ErrNotFound) {
			return live, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read attempt: %w", err)
		}
		if t.Type == dag.TypeApproval {
			if a.Decisions, err = s.store.Decisions(ctx, t.InstanceID, t.Index, t.Attempts); err != nil {
				return nil, err
			}
		}
		return append(live, a.Attempt), nil
	case "", dag.TaskWaiting, dag.TaskReady, dag.TaskRetryWait, dag.TaskSuccess, dag.TaskForcedSuccess, dag.TaskFailed, dag.TaskKilled,
		dag.TaskSkipped, dag.TaskUpstreamFailed, dag.TaskDisabled:
	}
	return live, nil
}

// explainCodes lists every code that the API's explanations hold.
func explainCodes() []string {
	codes := append(dag.ExplanationCodes(), "message", "output", "child", interval.CodeSatisfied, interval.CodeFirstRun, interval.CodeMissing,
		interval.CodeOpen, interval.CodeFailure, interval.CodeGone, interval.CodeValue, interval.CodeAll, interval.CodeAny, interval.CodeHeld,
		"no_master", "no_owner", "no_worker", "no_labelled_worker", "no_slots", "no_free_slot", "worker_gone", "held",
		"holds_place", "place_ahead", "place_replaced",
		"no_task_group", "task_group_full", "task_group_rate", "task_group_small", "task_group_stopped", "holds_task_group")
	slices.Sort(codes)
	return codes
}

func explanationFace(e dag.Explanation) Explanation {
	out := Explanation{Code: e.Code, Args: e.Args, Text: e.Text, Since: Time(e.Since)}
	for _, c := range e.Causes {
		out.Causes = append(out.Causes, explanationFace(c))
	}
	return out
}

// addMessages adds to each failed task what its last attempt said of it: the worker's
// message, or the last line of its output.
func (s *Server) addMessages(ctx context.Context, instance int64, inst *dag.Instance, plan *dag.Plan, e *Explanation) error {
	for i := range e.Causes {
		if err := s.addMessages(ctx, instance, inst, plan, &e.Causes[i]); err != nil {
			return err
		}
	}
	task, ok := plan.Task(e.Args["task"])
	if !ok || e.Code != string(dag.TaskFailed) && e.Code != string(dag.ReasonCached) || inst.Tasks[task].Attempts == 0 {
		return nil
	}
	a, err := s.store.Attempt(ctx, instance, task, inst.Tasks[task].Attempts)
	if errors.Is(err, sql.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read attempt: %w", err)
	}
	if a.Message != "" {
		e.Causes = append(e.Causes, Explanation{Code: "message", Text: a.Message})
	}
	// "ended with code 1" says less than the line before it.
	if line := lastLine(a.Tail); line != "" {
		e.Causes = append(e.Causes, Explanation{Code: "output", Args: map[string]string{"line": line}, Text: "its output ends: " + line})
	}
	return nil
}

// lastLine returns the last line of an output that is not blank, as valid text.
func lastLine(tail []byte) string {
	text := strings.TrimRight(strings.ToValidUTF8(string(tail), "\uFFFD"), " \t\r\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// addQueues adds what the rows don't know: whether anybody is there to do the work.
func (s *Server) addQueues(ctx context.Context, row sql.InstanceRow, inst *dag.Instance, plan *dag.Plan, task int, e *Explanation) error {
	switch inst.State {
	case dag.InstanceSubmitted:
		if len(s.cfg.Cluster.Masters()) == 0 {
			e.Causes = append(e.Causes, Explanation{Code: "no_master", Text: "no master is alive to begin it"})
		}
		return nil
	case dag.InstanceRunning, dag.InstanceStopping, dag.InstancePausing:
	case dag.InstanceSerialWait, dag.InstancePaused, dag.InstanceStopped, dag.InstanceFailed, dag.InstanceSuccess, dag.InstanceQuarantined:
		return nil
	}
	if row.Owner == "" || !s.masterAlive(row.Owner) {
		e.Causes = append(e.Causes, Explanation{Code: "no_owner", Text: "the master that drove it is gone; another one will take it over"})
	}
	for i := range inst.Tasks {
		if t := &inst.Tasks[i]; (task < 0 || i == task) && t.State.Live() && t.Attempt.Worker != "" && !s.workerAlive(t.Attempt.Worker) {
			e.Causes = append(e.Causes, Explanation{
				Code: "worker_gone", Args: map[string]string{"worker": t.Attempt.Worker}, Text: "worker " + t.Attempt.Worker + " is not in the registry: it is silent or gone",
			})
			break // one is enough to know where to look
		}
	}
	var queues []Explanation
	seen, asked := map[string]bool{}, map[string]bool{}
	for i := range inst.Tasks {
		if (task >= 0 && i != task) || inst.Tasks[i].State != dag.TaskReady || inst.InMaster(i) || inst.Delayed(i) {
			continue
		}
		if plan.NeedsPlace(i) && inst.State == dag.InstanceRunning {
			def := &plan.Definition.Tasks[i]
			cause, waits, err := s.taskGroupState(ctx, row, inst, i, def)
			if err != nil {
				return err
			}
			if waits {
				if !asked[def.TaskGroup.Name] {
					asked[def.TaskGroup.Name] = true
					e.Causes = append(e.Causes, cause)
				}
				continue
			}
		}
		group, labels := inst.GroupOf(i), plan.Definition.Tasks[i].WorkerLabels
		if key := group + "," + labels.String(); !seen[key] { // no name has a comma
			seen[key] = true
			queues = append(queues, s.groupState(group, labels))
		}
	}
	e.Causes = append(e.Causes, queues...)
	return nil
}

func (s *Server) workerAlive(name string) bool {
	return slices.ContainsFunc(s.cfg.Cluster.Workers(), func(n Node) bool { return n.Name == name })
}

func (s *Server) masterAlive(owner string) bool {
	return slices.ContainsFunc(s.cfg.Cluster.Masters(), func(n Node) bool { return n.Name+":"+n.Incarnation == owner })
}

// groupState says in words whether a worker group can take work that asks for some labels.
func (s *Server) groupState(group string, labels dag.Labels) Explanation {
	alive, workers, slots := 0, 0, 0
	for _, w := range s.cfg.Cluster.Workers() {
		if !slices.Contains(w.Groups, group) {
			continue
		}
		alive++
		if labels.In(w.Labels) {
			workers++
			slots += w.Slots
		}
	}
	args := map[string]string{"worker_group": group, "workers": fmt.Sprint(workers), "slots": fmt.Sprint(slots)}
	with := ""
	if len(labels) > 0 {
		args["labels"] = labels.String()
		with = " with " + args["labels"]
	}
	switch {
	case alive == 0:
		return Explanation{Code: "no_worker", Args: args, Text: fmt.Sprintf("no worker of group %q is alive", group)}
	case workers == 0:
		return Explanation{Code: "no_labelled_worker", Args: args, Text: fmt.Sprintf("no worker of group %q has %s", group, args["labels"])}
	case slots == 0:
		return Explanation{Code: "no_slots", Args: args, Text: fmt.Sprintf("the workers of group %q%s offer no slot", group, with)}
	default:
		return Explanation{Code: "no_free_slot", Args: args, Text: fmt.Sprintf("it waits for a free slot among the %d of group %q%s", slots, group, with)}
	}
}
