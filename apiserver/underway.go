package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// PulseStore reads what is under way in the whole cluster.
type PulseStore interface {
	Pulse(ctx context.Context, now dag.Millis) (sql.Pulse, error)
	RunningTasks(ctx context.Context, worker string, limit int) ([]sql.RunningTask, error)
	SlotWork(ctx context.Context, slot, slots, limit int) ([]sql.Command, []sql.InstanceRow, error)
	BusyTaskGroups(ctx context.Context) ([]sql.TaskGroup, error)
}

// RunningTask is an attempt that is under way.
type RunningTask struct {
	InstanceID   ID               `json:"instance_id"`
	Project      string           `json:"project"`
	Workflow     string           `json:"workflow"`
	Task         string           `json:"task"`
	Type         string           `json:"type"`
	Attempt      int              `json:"attempt"`
	Worker       string           `json:"worker" doc:"By node."`
	State        dag.AttemptState `json:"state"`
	DispatchedAt Time             `json:"dispatched_at"`
	StartedAt    Time             `json:"started_at,omitempty"`
}

// RunningTasks is what workers run, as far as the caller may see it.
type RunningTasks struct {
	Items  []RunningTask `json:"items" nullable:"false"`
	Hidden int           `json:"hidden" doc:"Of projects that the caller may not see."`
	More   bool          `json:"more" doc:"There are more than are told."`
}

// SlotWork is what belongs to one slot.
type SlotWork struct {
	Slot      int           `json:"slot"`
	Commands  []SlotCommand `json:"commands" nullable:"false" doc:"That wait for the slot's master; 50 at most."`
	Instances []Instance    `json:"instances" nullable:"false" doc:"That a master drives; 50 at most."`
	Hidden    int           `json:"hidden" doc:"Of projects that the caller may not see."`
}

// SlotCommand is a command that waits.
type SlotCommand struct {
	Kind       string `json:"kind" enum:"start,resume"`
	InstanceID ID     `json:"instance_id"`
	Priority   string `json:"priority"`
	Lent       bool   `json:"lent" doc:"Any master may take it."`
	CreatedAt  Time   `json:"created_at"`
}

// BusyTaskGroup is a task group with the project that it is of.
type BusyTaskGroup struct {
	Project string `json:"project"`
	TaskGroup
}

type (
	listRunning struct {
		Worker string `query:"worker" maxLength:"128" doc:"Absent: all."`
	}
	runningAnswer struct{ Body RunningTasks }
	slotPath      struct {
		Slot int `path:"slot" minimum:"0" maximum:"65535"`
	}
	slotWorkAnswer  struct{ Body SlotWork }
	busyGroupAnswer struct{ Body List[BusyTaskGroup] }
)

const (
	// maxRunning bounds the tasks of one answer: what a page can show of a thousand workers.
	maxRunning = 2000
	// maxSlotWork bounds each list about a slot.
	maxSlotWork = 50
)

func (s *Server) underWayRoutes() {
	add(s, spec{
		id: "list-running-tasks", method: "GET", path: "/cluster/tasks", tag: "cluster", summary: "List the tasks that workers run now", access: access{object: perItem},
	}, s.listRunning)
	add(s, spec{
		id: "get-slot", method: "GET", path: "/cluster/slots/{slot}", tag: "cluster", summary: "List the commands and the instances of a slot", access: access{object: perItem},
	}, s.getSlot)
	add(s, spec{
		id: "list-busy-task-groups", method: "GET", path: "/cluster/task-groups", tag: "cluster", summary: "List the task groups of all projects that have tasks", access: access{object: perItem},
	}, s.listBusyGroups)
}

func (s *Server) listRunning(ctx context.Context, in *listRunning) (*runningAnswer, error) {
	rows, err := s.store.RunningTasks(ctx, in.Worker, maxRunning+1)
	if err != nil {
		return nil, fmt.Errorf("list running tasks: %w", err)
	}
	out := RunningTasks{Items: []RunningTask{}, More: len(rows) > maxRunning}
	for _, r := range rows[:min(len(rows), maxRunning)] {
		if callOf(ctx).who.role(r.ProjectID) < roleViewer {
			out.Hidden++
			continue
		}
		out.Items = append(out.Items, RunningTask{
			InstanceID: ID(r.InstanceID), Project: r.Project, Workflow: r.Workflow, Task: r.Task, Type: r.Type, Attempt: r.Number, Worker: r.Worker,
			State: r.State, DispatchedAt: Time(r.DispatchedAt), StartedAt: Time(r.StartedAt),
		})
	}
	return &runningAnswer{Body: out}, nil
}

func (s *Server) getSlot(ctx context.Context, in *slotPath) (*slotWorkAnswer, error) {
	slots := len(s.cfg.Cluster.Slots().Owners)
	if in.Slot >= slots {
		return nil, wrongField(http.StatusNotFound, "slot", "out_of_range", strconv.Itoa(in.Slot), "there are %d slots, from 0", slots)
	}
	commands, rows, err := s.store.SlotWork(ctx, in.Slot, slots, maxSlotWork)
	if err != nil {
		return nil, fmt.Errorf("list work of slot: %w", err)
	}
	who := callOf(ctx).who
	out := SlotWork{Slot: in.Slot, Commands: []SlotCommand{}, Instances: []Instance{}}
	for _, c := range commands {
		if who.role(c.ProjectID) < roleViewer {
			out.Hidden++
			continue
		}
		out.Commands = append(out.Commands, SlotCommand{
			Kind: string(c.Kind), InstanceID: ID(c.InstanceID), Priority: c.Priority.String(), Lent: c.Lent, CreatedAt: Time(c.CreatedAt),
		})
	}
	for _, r := range rows {
		if who.role(r.ProjectID) < roleViewer {
			out.Hidden++
			continue
		}
		out.Instances = append(out.Instances, instanceFace(r))
	}
	return &slotWorkAnswer{Body: out}, nil
}

func (s *Server) listBusyGroups(ctx context.Context, _ *struct{}) (*busyGroupAnswer, error) {
	rows, err := s.store.BusyTaskGroups(ctx)
	if err != nil {
		return nil, fmt.Errorf("list task groups in use: %w", err)
	}
	who := callOf(ctx).who
	rows = slices.DeleteFunc(rows, func(g sql.TaskGroup) bool { return who.role(g.ProjectID) < roleViewer })
	names := map[int64]string{}
	for _, g := range rows {
		if _, known := names[g.ProjectID]; known {
			continue
		}
		p, err := s.store.ProjectByID(ctx, g.ProjectID)
		if err != nil {
			return nil, fmt.Errorf("read project %d: %w", g.ProjectID, err)
		}
		names[g.ProjectID] = p.Name
	}
	return &busyGroupAnswer{Body: list(rows, "", func(g sql.TaskGroup) BusyTaskGroup {
		return BusyTaskGroup{Project: names[g.ProjectID], TaskGroup: taskGroupFace(g)}
	})}, nil
}
