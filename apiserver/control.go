package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// Seen ties a wish to the preview that its sender looked at.
type Seen struct {
	Preview string `json:"preview,omitempty" maxLength:"128" doc:"The token of a preview: refused with 409 where the verb would do something else by now."`
}

type instanceWish struct {
	InstancePath
	Body *Seen
}

type taskWish struct {
	TaskPath
	Body *Seen
}

func (s *Seen) token() string {
	if s == nil {
		return ""
	}
	return s.Preview
}

type stop struct {
	InstancePath
	Body *struct {
		Seen
		Force bool `json:"force,omitempty" doc:"Do not wait for the workers' word."`
	}
}

type rerunTask struct {
	TaskPath
	Body *struct {
		Seen
		Scope string `json:"scope,omitempty" enum:"only,upstream,downstream" doc:"What the task brings along; absent is downstream."`
	}
}

type controlledAnswer struct {
	Status   int
	Location string `header:"Location"`
	Body     Instance
}

func (s *Server) controlRoutes() {
	operate := access{need: roleOperator, object: ofInstance}
	verb := func(id, path, summary string) spec {
		return spec{
			id: id, method: "POST", path: "/instances/{id}" + path, tag: "control", summary: summary, status: 202, access: operate, body: jsonBody, optional: true,
		}
	}
	add(s, verb("pause", "/pause", "Start nothing new; what runs may end"), s.simple(dag.VerbPause))
	add(s, verb("resume", "/resume", "Go on after a pause"), s.simple(dag.VerbResume))
	add(s, verb("recover", "/recover", "Run what did not succeed again, as a new round"), s.simple(dag.VerbRecover))
	add(s, verb("stop", "/stop", "Kill what runs, start nothing more"), s.stopInstance)
	add(s, verb("rerun", "/rerun", "Run tasks again, as a new round or a new instance"), s.rerun)
	add(s, spec{
		id: "preview-rerun", method: "POST", path: "/instances/{id}/rerun/preview", tag: "control", summary: "Say which tasks a rerun would run and which it would keep, without doing it",
		status: 200, access: operate, body: jsonBody, optional: true,
	}, s.previewRerun)
	add(s, verb("kill-task", "/tasks/{task}/kill", "Kill one task"), s.onTask(dag.VerbKill))
	add(s, verb("skip-task", "/tasks/{task}/skip", "Count a task as done without running it"), s.onTask(dag.VerbSkip))
	add(s, verb("force-success-of-task", "/tasks/{task}/force-success", "Declare a task successful; what it blocked runs, where the instance has ended in a new round"), s.onTask(dag.VerbForceSuccess))
	add(s, verb("rerun-task", "/tasks/{task}/rerun", "Run one task again, as a new round"), s.rerunTask)
}

// verdict is what a verb means to something in a state.
type verdict uint8

const (
	refuse verdict = iota // 409: it can't be done now
	done                  // 200: it is so already, or on its way
	wish                  // 202: the master is asked
)

// onInstance is what a verb means to an instance as a whole. The owner decides again
// when it applies the row; this spares it what is plainly impossible or done.
func onInstance(v dag.Verb, in sql.InstanceRow, force bool) verdict {
	switch in.State {
	case dag.InstanceSubmitted, dag.InstanceSerialWait, dag.InstanceRunning:
		switch v {
		case dag.VerbPause, dag.VerbStop, dag.VerbKill, dag.VerbSkip, dag.VerbForceSuccess:
			return wish
		case dag.VerbResume:
			return done
		case dag.VerbRecover:
			if in.Round > 1 {
				return done
			}
		case dag.VerbApprove, dag.VerbReject:
			return wish
		case dag.VerbRerun, dag.VerbReplace:
		}
	case dag.InstancePausing, dag.InstancePaused:
		switch v {
		case dag.VerbPause:
			return done
		case dag.VerbResume, dag.VerbStop, dag.VerbKill, dag.VerbSkip, dag.VerbForceSuccess, dag.VerbApprove, dag.VerbReject:
			return wish
		case dag.VerbRecover, dag.VerbRerun, dag.VerbReplace:
		}
	case dag.InstanceStopping:
		switch {
		case v == dag.VerbStop && force, v == dag.VerbKill:
			return wish
		case v == dag.VerbStop:
			return done
		}
	case dag.InstanceStopped, dag.InstanceFailed:
		switch v {
		case dag.VerbRecover, dag.VerbRerun, dag.VerbForceSuccess:
			return wish
		case dag.VerbStop:
			if in.State == dag.InstanceStopped {
				return done
			}
		case dag.VerbPause, dag.VerbResume, dag.VerbKill, dag.VerbSkip, dag.VerbReplace, dag.VerbApprove, dag.VerbReject:
		}
	case dag.InstanceSuccess:
		switch v {
		case dag.VerbRerun:
			return wish
		case dag.VerbForceSuccess:
			return done
		case dag.VerbPause, dag.VerbResume, dag.VerbStop, dag.VerbKill, dag.VerbSkip, dag.VerbRecover, dag.VerbReplace, dag.VerbApprove, dag.VerbReject:
		}
	case dag.InstanceQuarantined:
	}
	return refuse
}

func (s *Server) simple(v dag.Verb) func(context.Context, *instanceWish) (*controlledAnswer, error) {
	return func(ctx context.Context, in *instanceWish) (*controlledAnswer, error) {
		return s.control(ctx, sql.ControlRow{Verb: v}, in.Body.token())
	}
}

func (s *Server) stopInstance(ctx context.Context, in *stop) (*controlledAnswer, error) {
	if in.Body == nil {
		return s.control(ctx, sql.ControlRow{Verb: dag.VerbStop}, "")
	}
	return s.control(ctx, sql.ControlRow{Verb: dag.VerbStop, Force: in.Body.Force}, in.Body.Preview)
}

func (s *Server) rerunTask(ctx context.Context, in *rerunTask) (*controlledAnswer, error) {
	if _, err := s.store.Task(ctx, callOf(ctx).instance.ID, in.Task); err != nil {
		return nil, fmt.Errorf("read task: %w", err)
	}
	row := sql.ControlRow{Verb: dag.VerbRerun, Tasks: []string{in.Task}, Scope: dag.ScopeDownstream}
	token := ""
	if in.Body != nil {
		token = in.Body.Preview
		if in.Body.Scope != "" {
			row.Scope = dag.Scope(in.Body.Scope)
		}
	}
	return s.control(ctx, row, token)
}

func (s *Server) onTask(v dag.Verb) func(context.Context, *taskWish) (*controlledAnswer, error) {
	return func(ctx context.Context, in *taskWish) (*controlledAnswer, error) {
		c := callOf(ctx)
		t, err := s.store.Task(ctx, c.instance.ID, in.Task)
		if err != nil {
			return nil, fmt.Errorf("read task: %w", err)
		}
		switch t.State {
		case "":
			return nil, notFound() // outside of this start's scope
		case dag.TaskSuccess, dag.TaskForcedSuccess, dag.TaskSkipped, dag.TaskDisabled:
			return s.asItIs(c.instance), nil
		case dag.TaskFailed, dag.TaskKilled, dag.TaskUpstreamFailed:
			if v != dag.VerbForceSuccess {
				return s.asItIs(c.instance), nil
			}
			if !c.instance.State.Final() {
				return nil, wrongField(http.StatusConflict, "state", "wrong_state", string(c.instance.State), "the instance is %s: a task that is %s is declared successful once it has ended", c.instance.State, t.State)
			}
		case dag.TaskDispatched, dag.TaskRunning, dag.TaskKilling:
			if v != dag.VerbKill {
				return nil, wrongField(http.StatusConflict, "task", "wrong_state", string(t.State), "task %q is %s: kill it first", t.Name, t.State)
			}
		case dag.TaskWaiting, dag.TaskReady, dag.TaskRetryWait:
		}
		return s.control(ctx, sql.ControlRow{Verb: v, Tasks: []string{t.Name}}, in.Body.token())
	}
}

func (s *Server) asItIs(in sql.InstanceRow) *controlledAnswer {
	return &controlledAnswer{Status: http.StatusOK, Body: instanceFace(in)}
}

// control writes a wish about the call's instance, and answers with how it stands then.
func (s *Server) control(ctx context.Context, row sql.ControlRow, token string) (*controlledAnswer, error) {
	in := callOf(ctx).instance
	if token != "" {
		if err := s.stillAsSeen(ctx, in, row, token); err != nil {
			return nil, err
		}
	}
	written, err := s.wishFor(ctx, in, row)
	if err != nil {
		return nil, err
	}
	if !written {
		return s.asItIs(in), nil
	}
	in, err = s.store.Instance(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read instance %d: %w", in.ID, err)
	}
	return &controlledAnswer{Status: http.StatusAccepted, Body: instanceFace(in)}, nil
}

// wishFor writes a wish about an instance, unless it is impossible, fulfilled, or written
// already; written says whether it did.
func (s *Server) wishFor(ctx context.Context, in sql.InstanceRow, row sql.ControlRow) (written bool, err error) {
	switch onInstance(row.Verb, in, row.Force) {
	case refuse:
		return false, wrongField(http.StatusConflict, "state", "wrong_state", string(in.State), "%s is not possible: the instance is %s", row.Verb, in.State)
	case done:
		return false, nil
	case wish:
	}
	if err := s.aboveAgree(ctx, in, row.Verb); err != nil {
		return false, err
	}
	open, err := s.store.Controls(ctx, in.ID)
	if err != nil {
		return false, fmt.Errorf("read open wishes: %w", err)
	}
	// Only the last wish counts as a repeat: pause, resume, pause are three.
	if n := len(open); n > 0 {
		last := open[n-1]
		if last.Verb == row.Verb && last.Force == row.Force && last.Scope == row.Scope && slices.Equal(last.Tasks, row.Tasks) && !decides(row.Verb) {
			return false, nil
		}
		if n >= maxOpenControls {
			return false, problem(http.StatusConflict, "too many wishes about this instance wait for a master")
		}
	}
	row.InstanceID, row.By, row.At = in.ID, callOf(ctx).who.name, s.at()
	if _, err := s.store.AddControl(ctx, row); err != nil {
		return false, fmt.Errorf("%s instance %d: %w", row.Verb, in.ID, err)
	}
	if s.cfg.Hints != nil {
		s.cfg.Hints.Control(in.ID)
	}
	return true, nil
}

// maxOpenControls bounds the wishes that wait while no master takes them.
const maxOpenControls = 1000
