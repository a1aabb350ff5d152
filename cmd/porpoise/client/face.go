package client

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// timeLayout is how the API writes a moment: UTC with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Time is a moment; the zero value stands for none.
type Time struct{ time.Time }

// MarshalJSON writes the moment as the API does; none is null.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(t.UTC().Format(timeLayout))
}

// UnmarshalJSON reads a moment or null.
func (t *Time) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("read a time: %w", err)
	}
	if s == "" {
		*t = Time{}
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return fmt.Errorf("read a time: %w", err)
	}
	t.Time = at
	return nil
}

// Project is a project that the caller may see.
type Project struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Role        string `json:"role"`
	CreatedAt   Time   `json:"created_at"`
	UpdatedAt   Time   `json:"updated_at"`
}

// Workflow is a workflow as lists show it.
type Workflow struct {
	ID          string `json:"id"`
	Project     string `json:"project"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Published   int    `json:"published"`
	Latest      int    `json:"latest"`
	CreatedAt   Time   `json:"created_at"`
	UpdatedAt   Time   `json:"updated_at"`
}

// Saved is what a save has made of a text.
type Saved struct {
	Workflow
	Version int  `json:"version"`
	Created bool `json:"created"` // false where the text was the newest version's already
}

// Version is one saved text of a workflow, without the text.
type Version struct {
	Version   int    `json:"version"`
	Message   string `json:"message"`
	Published bool   `json:"published"`
	CreatedAt Time   `json:"created_at"`
	CreatedBy string `json:"created_by"`
}

// Diff is what differs between two texts of a workflow.
type Diff struct {
	From     string `json:"from"`
	To       string `json:"to"`
	SameText bool   `json:"same_text"`
	Tasks    struct {
		Added   []string `json:"added"`
		Removed []string `json:"removed"`
		Changed []struct {
			Task   string      `json:"task"`
			Fields []FieldDiff `json:"fields"`
		} `json:"changed"`
	} `json:"tasks"`
	Edges struct {
		Added   []Edge `json:"added"`
		Removed []Edge `json:"removed"`
	} `json:"edges"`
	Settings []FieldDiff `json:"settings"`
	Cut      bool        `json:"cut"`
}

// FieldDiff is one value that differs; nil is one that is not there.
type FieldDiff struct {
	Field  string  `json:"field"`
	Before *string `json:"before,omitempty"`
	After  *string `json:"after,omitempty"`
}

// Edge says that task To needs task From.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Start is how a workflow is to be run; the zero value runs all of it as published.
type Start struct {
	Params      map[string]string `json:"params,omitempty"`
	Version     int               `json:"version,omitempty"`
	StartTasks  []string          `json:"start_tasks,omitempty"`
	Scope       string            `json:"scope,omitempty"`
	DryRun      bool              `json:"dry_run,omitempty"`
	WorkerGroup string            `json:"worker_group,omitempty"`
	Priority    string            `json:"priority,omitempty"`
	OnFailure   string            `json:"on_failure,omitempty"`
	// ScheduleTime, RFC 3339, is the moment that dates in parameters are about; "" is now.
	ScheduleTime string `json:"schedule_time,omitempty"`
	Timezone     string `json:"timezone,omitempty"` // of those dates; "" is UTC
	// Reply is told of what becomes of the instance; nil for nobody.
	Reply *Reply `json:"reply,omitempty"`

	// IdempotencyKey makes a repeat of the same start answer with the first instance.
	IdempotencyKey string `json:"-"`
}

// Instance is a workflow instance as it stood when it was read.
type Instance struct {
	ID         string            `json:"id"`
	Project    string            `json:"project"`
	Workflow   string            `json:"workflow"`
	Version    int               `json:"version"`
	State      dag.InstanceState `json:"state"`
	Reason     dag.Reason        `json:"reason,omitempty"`
	Round      int               `json:"round"`
	Seq        int64             `json:"seq"`
	Owner      string            `json:"owner,omitempty"`
	Params     map[string]string `json:"params"`
	StartTasks []string          `json:"start_tasks,omitempty"`
	Scope      string            `json:"scope,omitempty"`
	DryRun     bool              `json:"dry_run"`
	Priority   string            `json:"priority"`
	OnFailure  string            `json:"on_failure"`
	RerunOf    string            `json:"rerun_of,omitempty"`
	ParentID   string            `json:"parent_instance_id,omitempty"`
	ParentTask string            `json:"parent_task,omitempty"`
	CreatedBy  string            `json:"created_by"`
	CreatedAt  Time              `json:"created_at"`
	StartedAt  Time              `json:"started_at"`
	FinishedAt Time              `json:"finished_at"`
	Deadline   Time              `json:"deadline"`
}

// Over says that the instance does nothing more by itself in this round.
func (in *Instance) Over() bool { return Over(in.State) }

// Over says that a state of an instance is final for its round.
func Over(state dag.InstanceState) bool {
	switch state {
	case dag.InstanceStopped, dag.InstanceFailed, dag.InstanceSuccess, dag.InstanceQuarantined:
		return true
	case dag.InstanceSubmitted, dag.InstanceSerialWait, dag.InstanceRunning, dag.InstancePausing, dag.InstancePaused, dag.InstanceStopping:
	}
	return false
}

// Task is a task instance as it stood when it was read.
type Task struct {
	Name       string            `json:"name"`
	Type       string            `json:"type"`
	State      dag.TaskState     `json:"state"`
	Reason     dag.Reason        `json:"reason,omitempty"`
	Round      int               `json:"round"`
	Attempts   int               `json:"attempts"`
	Retries    int               `json:"retries"`
	Lost       int               `json:"lost"`
	Iteration  int               `json:"iteration,omitempty"`
	Items      int               `json:"items,omitempty"`
	ReadyAt    Time              `json:"ready_at"`
	NextAt     Time              `json:"next_at"`
	StartedAt  Time              `json:"started_at"`
	FinishedAt Time              `json:"finished_at"`
	Outputs    map[string]string `json:"outputs,omitempty"`
	ChildID    string            `json:"child_instance_id,omitempty"`
}

// TaskOver says that a state of a task is final for its round.
func TaskOver(state dag.TaskState) bool {
	switch state {
	case dag.TaskSuccess, dag.TaskForcedSuccess, dag.TaskFailed, dag.TaskKilled, dag.TaskSkipped, dag.TaskUpstreamFailed, dag.TaskDisabled:
		return true
	case dag.TaskWaiting, dag.TaskReady, dag.TaskDispatched, dag.TaskRunning, dag.TaskRetryWait, dag.TaskKilling:
	}
	return false
}

// Attempt is one try to run a task.
type Attempt struct {
	Number       int              `json:"number"`
	Round        int              `json:"round"`
	Iteration    int              `json:"iteration,omitempty"`
	Worker       string           `json:"worker,omitempty"`
	State        dag.AttemptState `json:"state"`
	Reason       dag.Reason       `json:"reason,omitempty"`
	Message      string           `json:"message,omitempty"`
	DispatchedAt Time             `json:"dispatched_at"`
	StartedAt    Time             `json:"started_at"`
	FinishedAt   Time             `json:"finished_at"`
	ExitCode     int              `json:"exit_code"`
	LogBytes     int64            `json:"log_bytes"`
	Tail         string           `json:"tail,omitempty"`
	ChildID      string           `json:"child_instance_id,omitempty"`
	CachedFrom   string           `json:"cached_from_instance_id,omitempty"`
	Artifacts    []Artifact       `json:"artifacts,omitempty"`
}

// Event is one line of an instance's history.
type Event struct {
	Seq     int64      `json:"seq"`
	At      Time       `json:"at"`
	Code    string     `json:"code"`
	Task    string     `json:"task,omitempty"`
	Attempt int        `json:"attempt,omitempty"`
	Round   int        `json:"round"`
	State   string     `json:"state,omitempty"`
	Reason  dag.Reason `json:"reason,omitempty"`
	Message string     `json:"message,omitempty"`
	By      string     `json:"by,omitempty"`
	Warning bool       `json:"warning,omitempty"`
}

// Explanation says why something is as it is.
type Explanation struct {
	Code   string            `json:"code"`
	Args   map[string]string `json:"args,omitempty"`
	Text   string            `json:"text"`
	Since  Time              `json:"since"`
	Causes []Explanation     `json:"causes,omitempty"`
}

// Node is a live process of the cluster.
type Node struct {
	Name        string            `json:"name"`
	Incarnation string            `json:"incarnation"`
	Address     string            `json:"address,omitempty"`
	Version     string            `json:"version"`
	Groups      []string          `json:"groups,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Slots       int               `json:"slots,omitempty"`
	Weight      int               `json:"weight,omitempty"`
	StartedAt   Time              `json:"started_at"`
	Draining    string            `json:"draining,omitempty"`
}

// WorkerDetail is a worker with its figures; they are nil where the apiserver has none.
type WorkerDetail struct {
	Node
	Figures *WorkerFigures `json:"figures,omitempty"`
}

// WorkerFigures are how a worker is doing.
type WorkerFigures struct {
	Load            float64          `json:"load"`
	DriftMS         int64            `json:"drift_ms"`
	Running         int              `json:"running"`
	FreeSlots       int              `json:"free_slots"`
	TakesNoWork     string           `json:"takes_no_work,omitempty"`
	Outbox          int              `json:"outbox"`
	FreeDisk        float64          `json:"free_disk"`
	DroppedLogBytes int64            `json:"dropped_log_bytes"`
	Heartbeat       HeartbeatFigures `json:"heartbeat"`
}

// HeartbeatFigures are those of a worker's heartbeat manager.
type HeartbeatFigures struct {
	Main        int     `json:"main"`
	Backup      int     `json:"backup"`
	InFlight    int     `json:"in_flight"`
	PeriodMS    int64   `json:"period_ms"`
	CycleMS     int64   `json:"cycle_ms"`
	TimeoutMS   int64   `json:"timeout_ms"`
	Batch       int     `json:"batch"`
	Capacity    int     `json:"capacity"`
	Utilisation float64 `json:"utilisation"`
	LastCycle   int     `json:"last_cycle"`
	Messages    int64   `json:"messages"`
	Sent        int64   `json:"sent"`
	Throttled   int64   `json:"throttled"`
	Retried     int64   `json:"retried"`
	Moved       int64   `json:"moved"`
	Overruns    int64   `json:"overruns"`
	Lapsed      int64   `json:"lapsed"`
	OldestMS    int64   `json:"oldest_ms"`
	Near        int     `json:"near_deadline"`
}

// Drain says why a worker is to take no work, and after how many seconds what runs is handed back; 0 is never.
type Drain struct {
	Reason   string `json:"reason,omitempty"`
	GiveBack int    `json:"give_back_after_seconds,omitempty"`
}

// Hold says whether the cluster is held.
type Hold struct {
	Held   bool   `json:"held"`
	Since  Time   `json:"since,omitzero"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Released is what the end of a hold has moved.
type Released struct {
	WasHeld   bool `json:"was_held"`
	Seconds   int  `json:"seconds"`
	Instances int  `json:"instances"`
	Moments   int  `json:"moments"`
}

// Failover is a takeover by one master, from a dead master or a lost worker.
type Failover struct {
	ID          string         `json:"id"`
	Kind        string         `json:"kind"`
	Node        string         `json:"node"`
	Incarnation string         `json:"incarnation"`
	By          string         `json:"by"`
	Cause       string         `json:"cause"`
	DetectedAt  Time           `json:"detected_at"`
	FinishedAt  Time           `json:"finished_at,omitzero"`
	Instances   int            `json:"instances"`
	Adopted     int            `json:"adopted"`
	Lost        int            `json:"lost"`
	Steps       []FailoverStep `json:"steps"`
}

// FailoverStep is one moment of a takeover.
type FailoverStep struct {
	Name string `json:"name"`
	At   Time   `json:"at"`
}

// Supervisor is the master that looks for what is stuck.
type Supervisor struct {
	Master       string `json:"master"`
	Fence        int64  `json:"fence"`
	Since        Time   `json:"since,omitzero"`
	LookedAt     Time   `json:"looked_at,omitzero"`
	EverySeconds int64  `json:"every_seconds"`
}

// Recovery is one thing that got stuck; Task is absent where it is no attempt.
type Recovery struct {
	ID         string `json:"id"`
	Instance   string `json:"instance"`
	Task       *int   `json:"task,omitempty"`
	Attempt    int    `json:"attempt,omitempty"`
	Step       string `json:"step"`
	State      string `json:"state"`
	Failures   int    `json:"failures"`
	FirstAt    Time   `json:"first_at"`
	AskedAt    Time   `json:"asked_at"`
	CompleteBy Time   `json:"complete_by"`
	AnsweredAt Time   `json:"answered_at,omitzero"`
	AnsweredBy string `json:"answered_by,omitempty"`
	Result     string `json:"result,omitempty"`
}

// Slots is which master owns which command slots.
type Slots struct {
	Count       int          `json:"count"`
	Epoch       int64        `json:"epoch"`
	State       string       `json:"state"`
	Cause       string       `json:"cause,omitempty"`
	Coordinator string       `json:"coordinator,omitempty"`
	CommittedAt Time         `json:"committed_at,omitzero"`
	Owners      []SlotRange  `json:"owners"`
	Masters     []SlotMaster `json:"masters"`
	Preparing   *Preparing   `json:"preparing,omitempty"`
	Rebalances  []Rebalance  `json:"rebalances"`
}

// SlotRange is a run of slots with one owner; without a master, nobody's.
type SlotRange struct {
	From   int    `json:"from"`
	To     int    `json:"to"`
	Master string `json:"master,omitempty"`
}

// SlotMaster is a master with its share of the slots.
type SlotMaster struct {
	Name        string `json:"name"`
	Incarnation string `json:"incarnation"`
	Weight      int    `json:"weight"`
	Slots       int    `json:"slots"`
	State       string `json:"state"`
}

// Preparing is a layout that masters are agreeing on.
type Preparing struct {
	Epoch       int64    `json:"epoch"`
	Cause       string   `json:"cause"`
	Coordinator string   `json:"coordinator"`
	At          Time     `json:"at"`
	Acked       []string `json:"acked"`
	Missing     []string `json:"missing"`
}

// Rebalance is one layout and how it came about.
type Rebalance struct {
	Epoch       int64           `json:"epoch"`
	Cause       string          `json:"cause"`
	Coordinator string          `json:"coordinator"`
	StartedAt   Time            `json:"started_at"`
	CommittedAt Time            `json:"committed_at"`
	TookMS      int64           `json:"took_ms"`
	Restarts    int             `json:"restarts"`
	Moved       int             `json:"moved"`
	Masters     []SlotMaster    `json:"masters"`
	Steps       []RebalanceStep `json:"steps"`
}

// RebalanceStep is one moment of a rebalance.
type RebalanceStep struct {
	Epoch  int64  `json:"epoch"`
	Name   string `json:"name"`
	Master string `json:"master,omitempty"`
	Note   string `json:"note,omitempty"`
	At     Time   `json:"at"`
}

// Token is an API token; Secret is set only in the answer that creates it.
type Token struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Role      string `json:"role,omitempty"`
	Project   string `json:"project,omitempty"`
	CreatedAt Time   `json:"created_at"`
	ExpiresAt Time   `json:"expires_at"`
	Secret    string `json:"secret,omitempty"`
}

// NewToken asks for a token; the zero ExpiresAt leaves its life to the server.
type NewToken struct {
	Name      string `json:"name"`
	Role      string `json:"role,omitempty"`
	Project   string `json:"project,omitempty"`
	ExpiresAt *Time  `json:"expires_at,omitempty"`
}

// JoinToken lets a new node into the cluster.
type JoinToken struct {
	ID        string `json:"id"`
	Role      string `json:"role"`
	ExpiresAt Time   `json:"expires_at"`
	Uses      int    `json:"uses"`
	Token     string `json:"token"`
}

// NewJoinToken asks for a join token.
type NewJoinToken struct {
	Role      string `json:"role"`
	Node      string `json:"node,omitempty"`
	ExpiresIn int    `json:"expires_in_seconds,omitempty"`
	Uses      int    `json:"uses,omitempty"`
}
