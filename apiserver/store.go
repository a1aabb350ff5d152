package apiserver

import (
	"context"

	"github.com/porpoise/porpoise/apiserver/logs"
	"github.com/porpoise/porpoise/apiserver/watch"
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/backfill"
	"github.com/porpoise/porpoise/dag/interval"
	"github.com/porpoise/porpoise/sql"
)

// Store is all that the API asks of the database, by resource. *sql.Store is one. Its
// errors are those of package sql; sql.ErrUnavailable is answered with 503.
type Store interface {
	ProjectStore
	WorkflowStore
	DraftStore
	StartStore
	InstanceStore
	UserStore
	TokenStore
	SessionStore
	MemberStore
	AuditStore
	ClusterStore
	FailoverStore
	SupervisorStore
	HoldStore
	SlotStore
	TaskGroupStore
	ListenerStore
	BackfillStore
	ScheduleStore
	ProofStore
	TimerStore
	SecretStore
	CacheStore
	PulseStore
}

// CacheStore keeps what tasks gave.
type CacheStore interface {
	ClearCache(ctx context.Context, workflowID int64, task string) (int, error)
}

// BackfillStore keeps backfills, and knows what has run already.
type BackfillStore interface {
	CreateBackfill(ctx context.Context, b sql.Backfill, parts []sql.BackfillPart, dates []sql.BackfillEntry, newest int64) (sql.Backfill, error)
	ChangeBackfill(ctx context.Context, id int64, c sql.BackfillChange) (sql.Backfill, bool, error)
	ActiveBackfill(ctx context.Context, workflowID int64) (int64, error)
	NewestBackfill(ctx context.Context, workflowID int64) (int64, error)
	Backfill(ctx context.Context, id int64) (sql.Backfill, error)
	Backfills(ctx context.Context, workflowID int64, page sql.Page) ([]sql.Backfill, string, error)
	ProjectBackfills(ctx context.Context, projectID int64, page sql.Page) ([]sql.Backfill, string, error)
	BackfillDates(ctx context.Context, id int64, state backfill.DateState, page sql.Page) ([]sql.BackfillDate, string, error)
	DependingWorkflows(ctx context.Context, after int64, limit int) ([]int64, error)
	RanAt(ctx context.Context, workflowID int64, times []dag.Millis) (map[dag.Millis]sql.Ran, error)
}

// SecretStore keeps sealed secrets; project 0 is every project.
type SecretStore interface {
	Secrets(ctx context.Context, projectID int64) ([]sql.Secret, error)
	SecretsNamed(ctx context.Context, projectID int64, names []string) (map[string]sql.Secret, error)
	PutSecret(ctx context.Context, secret sql.Secret) (made bool, err error)
	DeleteSecret(ctx context.Context, projectID int64, name string) error
	ResealSecrets(ctx context.Context, keyID string, reseal func(sql.Secret) (sql.Secret, error)) (int, error)
}

// ProjectStore keeps projects.
type ProjectStore interface {
	CreateProject(ctx context.Context, p sql.Project) (sql.Project, error)
	UpdateProject(ctx context.Context, p sql.Project) (sql.Project, error)
	Project(ctx context.Context, name string) (sql.Project, error)
	ProjectByID(ctx context.Context, id int64) (sql.Project, error)
	Projects(ctx context.Context, page sql.Page) ([]sql.Project, string, error)
	DeleteProject(ctx context.Context, id int64) error
	ProjectParams(ctx context.Context, projectID int64) ([]sql.ProjectParam, error)
	PutProjectParam(ctx context.Context, p sql.ProjectParam) (sql.ProjectParam, error)
	DeleteProjectParam(ctx context.Context, projectID int64, name string) error
	Environments(ctx context.Context, projectID int64) ([]sql.Environment, error)
	PutEnvironment(ctx context.Context, e sql.Environment) (sql.Environment, error)
	DeleteEnvironment(ctx context.Context, projectID int64, name string) error
	ProjectActivities(ctx context.Context, projects []int64, since dag.Millis) (map[int64]sql.ProjectActivity, error)
}

// TaskGroupStore keeps task groups and tells who has their places.
type TaskGroupStore interface {
	PutTaskGroup(ctx context.Context, g sql.TaskGroup) (sql.TaskGroup, bool, error)
	TaskGroup(ctx context.Context, projectID int64, name string) (sql.TaskGroup, error)
	TaskGroups(ctx context.Context, projectID int64, page sql.Page) ([]sql.TaskGroup, string, error)
	DeleteTaskGroup(ctx context.Context, projectID int64, name string) error
	ForceTask(ctx context.Context, f sql.Force) error
	GroupTasks(ctx context.Context, groupID int64) ([]sql.GroupTask, error)
	TaskPlace(ctx context.Context, instance int64, task int) (sql.TaskInGroup, error)
}

// WorkflowStore keeps workflows and their versions.
type WorkflowStore interface {
	SaveVersion(ctx context.Context, v sql.SaveVersion) (sql.Workflow, sql.Version, bool, error)
	Workflow(ctx context.Context, projectID int64, name string) (sql.Workflow, error)
	WorkflowNamed(ctx context.Context, project, name string) (sql.Project, sql.Workflow, error)
	WorkflowByID(ctx context.Context, id int64) (sql.Workflow, error)
	Workflows(ctx context.Context, projectID int64, page sql.Page) ([]sql.Workflow, string, error)
	WorkflowsByID(ctx context.Context, ids []int64) ([]sql.Workflow, error)
	Publish(ctx context.Context, workflowID int64, version int, by string) error
	DeleteWorkflow(ctx context.Context, id int64) error
	WorkflowActivities(ctx context.Context, workflows []int64, last int) (map[int64]sql.WorkflowActivity, error)
	Version(ctx context.Context, workflowID int64, version int) (sql.Version, error)
	Versions(ctx context.Context, workflowID int64, page sql.Page) ([]sql.Version, string, error)
}

// DraftStore keeps what is beside the versions: unfinished text, and the canvas.
type DraftStore interface {
	Draft(ctx context.Context, workflowID int64) (sql.Draft, error)
	SaveDraft(ctx context.Context, d sql.SaveDraft) (sql.Workflow, sql.Draft, bool, error)
	DeleteDraft(ctx context.Context, d sql.DeleteDraft) error
	Layout(ctx context.Context, workflowID int64) (sql.Layout, error)
	PutLayout(ctx context.Context, l sql.Layout) error
	Cases(ctx context.Context, workflowID int64) (sql.Cases, error)
	PutCases(ctx context.Context, c sql.Cases, seen int64) (sql.Cases, error)
}

// StartStore takes wishes: each is a row before it is answered.
type StartStore interface {
	Start(ctx context.Context, s sql.Start) (id int64, existed bool, err error)
	AddControl(ctx context.Context, c sql.ControlRow) (sql.ControlRow, error)
	Controls(ctx context.Context, instances ...int64) ([]sql.ControlRow, error)
}

// InstanceStore reads instances; no read needs a master.
type InstanceStore interface {
	Instance(ctx context.Context, id int64) (sql.InstanceRow, error)
	Instances(ctx context.Context, f sql.InstanceFilter, page sql.Page) ([]sql.InstanceRow, string, error)
	InstanceCounts(ctx context.Context, f sql.InstanceFilter) (map[dag.InstanceState]int, error)
	Acknowledge(ctx context.Context, a sql.Acknowledgement) (sql.Acknowledgement, error)
	Unacknowledge(ctx context.Context, instance int64) error
	Outlines(ctx context.Context, page []sql.InstanceRow) (map[int64]*sql.Outline, error)
	Acknowledgements(ctx context.Context, rows []sql.InstanceRow) (map[int64]sql.Acknowledgement, error)
	InstanceHistogram(ctx context.Context, f sql.InstanceFilter, buckets int) (sql.Histogram, error)
	Neighbours(ctx context.Context, in sql.InstanceRow) (sql.Neighbours, error)
	Place(ctx context.Context, instance int64) (sql.PlaceInLine, error)
	Tasks(ctx context.Context, instanceID int64, page sql.Page) ([]sql.TaskRow, string, error)
	Task(ctx context.Context, instanceID int64, name string) (sql.TaskRow, error)
	ItemCounts(ctx context.Context, instanceID int64) ([]sql.ItemCount, error)
	Cells(ctx context.Context, instanceID int64) ([]sql.Cell, error)
	TasksAt(ctx context.Context, index int, instances []int64) (map[int64]sql.TaskRow, error)
	Attempts(ctx context.Context, instanceID int64, task int) ([]sql.AttemptRow, error)
	Attempt(ctx context.Context, instanceID int64, task, number int) (sql.AttemptRow, error)
	Artifacts(ctx context.Context, instanceID int64, task int) ([]sql.Artifact, error)
	ArtifactChunk(ctx context.Context, a sql.Artifact, chunk int) ([]byte, error)
	Events(ctx context.Context, instanceID, afterSeq int64, limit int) ([]sql.EventRow, error)
	Approvals(ctx context.Context, projects []int64, all bool, page sql.Page) ([]sql.ApprovalRow, string, error)
	Kept(ctx context.Context, instance int64) ([]sql.KeptTask, error)
	Decisions(ctx context.Context, instance int64, task, attempt int) ([]dag.Decision, error)
	Dependency(ctx context.Context, item interval.Item, by sql.Asker) (interval.Facts, int64, error)
	ChildrenOf(ctx context.Context, instance int64, page sql.Page) ([]sql.InstanceRow, string, error)
	LiveTasks(ctx context.Context, f sql.LiveTaskFilter, page sql.Page) ([]sql.LiveTask, string, error)
}

// UserStore keeps people.
type UserStore interface {
	CreateUser(ctx context.Context, u sql.User) (sql.User, error)
	User(ctx context.Context, name string) (sql.User, error)
	UserByID(ctx context.Context, id int64) (sql.User, error)
	FirstAdmin(ctx context.Context) (sql.User, error)
	FinishSetUp(ctx context.Context, u sql.User) error
	Users(ctx context.Context, page sql.Page) ([]sql.User, string, error)
	UpdateUser(ctx context.Context, u sql.User) error
	DeleteUser(ctx context.Context, id int64) error
}

// TokenStore keeps API tokens, by the hash of their secret.
type TokenStore interface {
	CreateToken(ctx context.Context, t sql.Token) (sql.Token, error)
	TokenByHash(ctx context.Context, hash string) (sql.Token, error)
	Tokens(ctx context.Context, userID int64, page sql.Page) ([]sql.Token, string, error)
	DeleteToken(ctx context.Context, userID, id int64) error
}

// SessionStore keeps signed-in browsers and one-time links, by the hash of their secret.
type SessionStore interface {
	CreateSession(ctx context.Context, s sql.Session) error
	Session(ctx context.Context, hash string) (sql.Session, error)
	Sessions(ctx context.Context, userID int64, now dag.Millis) ([]sql.Session, error)
	TouchSession(ctx context.Context, hash string, seen, idle dag.Millis) error
	DeleteSession(ctx context.Context, hash string) error
	DeleteSessions(ctx context.Context, userID int64) error
	CreateSignInLink(ctx context.Context, l sql.SignInLink) error
	TakeSignInLink(ctx context.Context, hash string, now dag.Millis) (sql.SignInLink, error)
}

// MemberStore keeps who has which role in which project.
type MemberStore interface {
	Members(ctx context.Context, projectID int64) ([]sql.Member, error)
	Memberships(ctx context.Context, userID int64) ([]sql.Member, error)
	PutMember(ctx context.Context, m sql.Member) error
	DeleteMember(ctx context.Context, projectID, userID int64) error
}

// AuditStore appends to the audit, and reads it; nothing of it is ever changed.
type AuditStore interface {
	AddAudit(ctx context.Context, rows []sql.AuditRow) error
	Audit(ctx context.Context, f sql.AuditFilter, page sql.Page) ([]sql.AuditRow, string, error)
}

// ClusterStore is what belongs to the cluster as a whole.
type ClusterStore interface {
	CreateJoinToken(ctx context.Context, t sql.JoinToken) (sql.JoinToken, error)
	Ping(ctx context.Context) error
}

// Logs reads the output of attempts from the workers. *logs.Server is one.
type Logs interface {
	Read(ctx context.Context, worker string, q logs.Query) (logs.Window, error)
	Follow(ctx context.Context, worker string, q logs.Query, yield func(logs.Window) error) error
	Search(ctx context.Context, worker string, q logs.Search) (logs.Found, error)
}

// Hints tell masters that a row was written. A lost hint costs a poll. *watch.Watcher is one.
type Hints interface {
	Command(id int64)
	Control(instanceID int64)
}

// Events hands out committed changes. *watch.Watcher is one.
type Events interface {
	Subscribe(filter func(watch.Change) bool) *watch.Subscription
	Publish(c watch.Change)
}

// Cluster tells which nodes are alive; the answers come from memory and may be a
// second old.
type Cluster interface {
	Masters() []Node
	Workers() []Node
	// Slots is who has which command slots.
	Slots() SlotLayout
	// CA returns the hash of the cluster's authority, which a join token carries.
	CA() string
}

// Node is a live process of the cluster.
type Node struct {
	Name        string
	Incarnation string
	Address     string
	Version     string
	Groups      []string          // of a worker
	Labels      map[string]string // of a worker
	Slots       int               // of a worker
	Weight      int               // of a master
	StartedAt   dag.Millis
	Draining    string // why it takes no work; "": it does
}
