// Package schedule says when a schedule fires and what becomes of each fire.
//
// It owns the document of a schedule, its calendars, and the rules of a fire: which moments are planned, who of
// several late ones still fires, and what happens where the one before still runs. It is pure: whoever calls
// it brings the moment. The apiserver checks documents with it, sql and the master's loop plan and judge by it.
package schedule

import "github.com/porpoise/porpoise/dag"

// Spec is the document of a schedule. Exactly one of Cron, At, After and Webhook says when.
type Spec struct {
	Cron     string   `json:"cron,omitempty"`     // see package dag/cron
	Dialect  string   `json:"dialect,omitempty"`  // of Cron: unix or quartz; by the number of fields where it is empty
	At       []string `json:"at,omitempty"`       // moments on the timezone's clock, or RFC 3339
	After    *After   `json:"after,omitempty"`    // the end of another workflow
	Webhook  *Webhook `json:"webhook,omitempty"`  // a signed call
	Timezone string   `json:"timezone,omitempty"` // IANA name; UTC where it is empty
	Start    string   `json:"start,omitempty"`    // the first moment that counts, itself included
	End      string   `json:"end,omitempty"`      // the last moment that counts, itself included

	Calendar *CalendarRule `json:"calendar,omitempty"`
	Jitter   string        `json:"jitter,omitempty"`  // each fire is late by a part of it, the same each time for the same fire
	Misfire  *Misfire      `json:"misfire,omitempty"` // absent is latest
	Overlap  Overlap       `json:"overlap,omitempty"` // absent is allow

	Params      map[string]string `json:"params,omitempty"`
	WorkerGroup string            `json:"worker_group,omitempty"`
	Priority    string            `json:"priority,omitempty"`
	OnFailure   dag.OnFailure     `json:"on_failure,omitempty"`
	DryRun      bool              `json:"dry_run,omitempty"`
}

// ByClock says that moments fire it, and not ends or calls, which no rule foretells.
func (s *Spec) ByClock() bool { return s.After == nil && s.Webhook == nil }

// Overlap is what a fire does where an instance of the same schedule has not ended.
type Overlap string

// What a fire does where the one before still runs.
const (
	Allow   Overlap = "allow"   // it starts all the same
	Wait    Overlap = "wait"    // it waits for the end; of those that wait only the newest stays
	Skip    Overlap = "skip"    // it is skipped
	Replace Overlap = "replace" // it starts, and the one before is stopped
)

// Late is what becomes of the fires for whose moment no master was there.
type Late string

// What becomes of late fires.
const (
	RunAll    Late = "all"
	RunLatest Late = "latest" // only the newest
	RunNone   Late = "none"
)

// Misfire is the policy for late fires: those that are later than Grace.
type Misfire struct {
	Policy Late   `json:"policy"`
	Max    int    `json:"max,omitempty"`     // of all: at most so many, the newest
	MaxAge string `json:"max_age,omitempty"` // of all and latest: none that is older
	Grace  string `json:"grace,omitempty"`   // what is no later than this is not late; absent is 30s
}

// CalendarRule names calendars of the project, and what a fire does on a day that they leave out.
type CalendarRule struct {
	Skip     []string `json:"skip,omitempty"`     // no fire on a day of any of them
	Only     []string `json:"only,omitempty"`     // fires only on days of all of them
	Excluded string   `json:"excluded,omitempty"` // skip (absent), next or previous: the same time on the nearest day that counts
}

// State is what a fire has come to.
type State string

// States of fires; planned and waiting are open, the others are outcomes.
const (
	Planned   State = "planned"
	Waiting   State = "waiting" // for the end of the instance before it
	Fired     State = "fired"
	Skipped   State = "skipped"   // by a rule: overlap, calendar, a pause, a change
	Missed    State = "missed"    // no master was there, and the misfire policy let it go
	Duplicate State = "duplicate" // its instance was there already
)
