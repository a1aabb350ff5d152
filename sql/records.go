package sql

import (
	"time"

	"github.com/porpoise/porpoise/dag"
)

// Project groups workflows and the people who may touch them.
type Project struct {
	ID          int64
	Name        string
	Description string
	CreatedAt   dag.Millis
	UpdatedAt   dag.Millis
}

// Workflow is a named definition with its versions. Published is the version that
// starts and schedules use; 0 while none is published. Latest is the highest saved; 0 while
// there is only a draft.
type Workflow struct {
	ID          int64
	ProjectID   int64
	Project     string
	Name        string
	Description string
	Published   int
	Latest      int
	CreatedAt   dag.Millis
	UpdatedAt   dag.Millis
	// DraftRevision is the draft's revision; 0 for none.
	DraftRevision int64
	// ChangedBy and ChangedAt are of the last change to the versions, to what is published,
	// or to the draft.
	ChangedBy string
	ChangedAt dag.Millis
}

// Version is one saved text of a workflow; it never changes.
type Version struct {
	WorkflowID int64
	Version    int
	Text       string // YAML or JSON, byte for byte as saved
	Format     string // "yaml" or "json"
	Hash       string // of the text, hex SHA-256
	Message    string // why it was saved, in the author's words
	CreatedAt  dag.Millis
	CreatedBy  string
}

// Start is one wish to run a workflow: the instance and its command are made of it, with
// the same id, in one transaction.
type Start struct {
	ID           int64 // from NextIDs
	WorkflowID   int64
	ProjectID    int64
	Version      int
	ScheduleTime dag.Millis
	Timezone     string // IANA name of where dates are reckoned, "" for UTC
	TriggerKey   string // "m<id>" for a manual start
	Params       map[string]string
	StartTasks   []string
	Scope        dag.Scope
	DryRun       bool
	WorkerGroup  string
	Priority     dag.Priority
	OnFailure    dag.OnFailure
	RerunOf      int64
	Kept         []KeptTask // of the instance that this one runs again
	By           string
	At           dag.Millis
	// Parent is what a child instance is tied to, Depth how many parents are above it.
	Parent Parent
	Depth  int
	// Idempotency is the start's Idempotency-Key with its owner; zero where none was given.
	Idempotency Idempotency
	// Reply is who is told of this instance's events; nil for nobody but the project's listeners.
	Reply *Reply
}

// Idempotency ties a request to its answer for 24 hours. Hash is of the request, so that the
// same key with another request can be refused.
type Idempotency struct {
	UserID int64
	Key    string
	Hash   string
}

// InstanceRow is a workflow instance as it stands in the store.
type InstanceRow struct {
	ID           int64
	WorkflowID   int64
	ProjectID    int64
	Project      string // joined
	Workflow     string // joined
	Version      int
	State        dag.InstanceState
	Reason       dag.Reason
	Round        int
	Owner        string // incarnation of the master that drives it; "" for none
	OwnerEpoch   int64
	LayoutEpoch  int64 // of the layout of slots in whose name it was claimed last
	CrashCount   int
	Seq          int64
	ScheduleTime dag.Millis
	Timezone     string // see Start
	TriggerKey   string
	Params       map[string]string
	StartTasks   []string
	Scope        dag.Scope
	DryRun       bool
	WorkerGroup  string
	Priority     dag.Priority
	OnFailure    dag.OnFailure
	RerunOf      int64
	CreatedBy    string
	CreatedAt    dag.Millis
	StartedAt    dag.Millis
	FinishedAt   dag.Millis
	Deadline     dag.Millis
	Concurrency  dag.Concurrency // of the workflow's published version; joined
	Parent       Parent          // zero where it is no child
	Depth        int             // how many parents are above it
	// Kept are the tasks that it took over; filled where NeedsKept says so, by whoever rebuilds it.
	Kept []KeptTask
}

// TaskRow is a task instance as it stands in the store; Index is its place in the plan.
type TaskRow struct {
	InstanceID int64
	Index      int
	Name       string
	Type       string
	ItemCount  int // how many children it has as a dynamic task
	dag.TaskInstance
}

// AttemptRow is an attempt as it stands in the store.
type AttemptRow struct {
	InstanceID int64
	dag.Attempt
}

// EventRow is one line of an instance's history. TaskName is joined; "" for the instance itself.
type EventRow struct {
	InstanceID int64
	TaskName   string
	dag.Event
}

// CommandKind says what a command asks of the master that takes it.
type CommandKind string

// The kinds of command.
const (
	CommandStart  CommandKind = "start"  // begin a submitted instance
	CommandResume CommandKind = "resume" // load an instance that has no owner, to apply its control rows
)

// Command is one row for a master to take; its slot is ID mod N.
type Command struct {
	ID         int64
	InstanceID int64
	Kind       CommandKind
	Slot       int
	Priority   dag.Priority
	ProjectID  int64
	// Lent says that the master of the slot has no room: any master may take it.
	Lent      bool
	CreatedAt dag.Millis
}

// ControlRow is one wish about an instance or one of its tasks. AppliedAt is zero until
// the owner has answered it; Result is dag.Applied.Result.
type ControlRow struct {
	ID         int64
	InstanceID int64
	Verb       dag.Verb
	Tasks      []string
	Scope      dag.Scope
	Force      bool
	By         string
	At         dag.Millis
	// Attempt and Child are of VerbChildEnded and VerbChildAgain: the attempt that waited, and the child.
	// Attempt is also of approve and reject: the one that is decided on.
	Attempt int
	Child   int64
	// Reason and Values are of approve and reject.
	Reason    string
	Values    map[string]string
	AppliedAt dag.Millis
	Result    string
}

// Claim is one command that a master takes: the transaction deletes the command row
// and sets owner and owner_epoch+1 on its instance.
type Claim struct {
	Command Command
	Owner   string
	// LayoutEpoch is of the layout of slots in whose name it is taken; it is kept with the instance.
	LayoutEpoch int64
}

// Claimed is an instance with all that is needed to go on with it.
type Claimed struct {
	Instance InstanceRow
	Tasks    []TaskRow
	Attempts []dag.Attempt // the live ones
	Controls []ControlRow  // not yet applied, in id order
	Version  Version
	// Mark says of one that Unbegun returned as of which write to it that was.
	Mark int64
	// ProjectParams are the parameters of the instance's project, by name, as they were when
	// it was loaded. Instances share them: they must not be changed.
	ProjectParams map[string]string
	// Environments are the variables of the project's environments, by folded name. They are shared as
	// ProjectParams are.
	Environments map[string]map[string]string
	// Err is set where the instance is owned but its rows cannot be read: its version is missing,
	// or what stands in them is none of ours. Only id, owner and epoch are certain then; it is
	// to be quarantined.
	Err error
}

// Beginning is an instance of Unbegun, with the claim for it.
type Beginning struct {
	Claimed
	Claim Claim
}

// Transition is what one or more Steps of one instance changed. Commit writes it only if
// the instance's owner_epoch is still Epoch.
type Transition struct {
	Instance *dag.Instance // not stepped by anybody until Commit returned
	Plan     *dag.Plan
	Epoch    int64
	// Claim is set for the first transition of an instance of Unbegun, and Mark is that one's: the same transaction takes
	// the command and makes the instance the claimant's. Where that can't be any more, the transition is ErrNotOwner.
	Claim   *Claim
	Mark    int64
	Effects *dag.Effects
	// Seen is what the instance's last Commit of this epoch has left behind, nil where nobody knows. Commit replaces it by what
	// it leaves itself.
	Seen *Seen
	// Release clears the owner: the instance is final, or rests.
	Release bool
	// Woke is set by Commit where its transaction made commands that any master may take.
	Woke bool
	// Given is set by Commit where its transaction gave places of a task group to other tasks.
	Given bool
	// Next is set by Commit: when PaceGroups is to be called, by group, for those whose rate holds tasks back.
	Next map[int64]dag.Millis
	At   dag.Millis
	// Grace is how long a kill may take before it is one by force.
	Grace time.Duration
	// Parent is the instance that this one is a child of; 0 for none. By stands in what parents and
	// children write to each other.
	Parent int64
	By     string
	// Backfill says that a backfill made the instance: how it ends is noted with its date.
	Backfill bool
}
