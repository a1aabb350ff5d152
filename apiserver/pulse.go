package apiserver

import (
	"context"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// Leases are how long the registry keeps a node that says nothing.
type Leases struct{ Master, Worker time.Duration }

// Pulse is the cluster as it is now, once a second: who is there, who has which slots, what waits. It names no object
// of a project, so that everybody gets the same one.
type Pulse struct {
	At      Time          `json:"at" doc:"When it was worked out."`
	Hold    Hold          `json:"hold"`
	Slots   PulseSlots    `json:"slots"`
	Masters []PulseMaster `json:"masters" nullable:"false"`
	Workers []PulseWorker `json:"workers" nullable:"false"`
	Queues  []Queue       `json:"queues" nullable:"false" doc:"The commands, then the worker groups by name."`
	// Failovers are the newest, so that a page hears of one at once.
	Failovers []Failover  `json:"failovers" nullable:"false" doc:"The newest takeovers, at most five."`
	Running   int         `json:"running" doc:"Attempts under way."`
	Tasks     string      `json:"tasks" doc:"Another text where other attempts are under way."`
	Stuck     PulseStuck  `json:"stuck"`
	Refused   PulseDouble `json:"refused"`
	Timers    PulseTimers `json:"timers"`
	Limits    PulseLimits `json:"limits"`
	Demo      []string    `json:"demo,omitempty" doc:"Nodes of a demo that may be killed."`
}

// PulseSlots is who has which command slots.
type PulseSlots struct {
	Epoch       int64           `json:"epoch" doc:"0 before the first layout."`
	Cause       string          `json:"cause,omitempty"`
	CommittedAt Time            `json:"committed_at,omitempty"`
	Members     []string        `json:"members" nullable:"false" doc:"Masters of the layout, by node."`
	Owners      []int           `json:"owners" nullable:"false" doc:"For each slot the place of its master in members; -1 where nobody has it, or its master is gone."`
	Overloaded  []int           `json:"overloaded,omitempty" nullable:"false" doc:"The slots whose master has no room for their commands, so that any master may take them."`
	Preparing   *PulsePreparing `json:"preparing,omitempty"`
	Last        *Rebalance      `json:"last,omitempty" doc:"How the layout in force came about."`
}

// PulsePreparing is the layout that masters are agreeing on.
type PulsePreparing struct {
	PreparingOf
	Members []string `json:"members" nullable:"false"`
	Owners  []int    `json:"owners" nullable:"false" doc:"As it will be, by place in these members."`
}

// PulseMaster is a master as it does.
type PulseMaster struct {
	Name        string   `json:"name"`
	Incarnation string   `json:"incarnation"`
	Address     string   `json:"address,omitempty"`
	Version     string   `json:"version"`
	Weight      int      `json:"weight"`
	StartedAt   Time     `json:"started_at,omitempty" doc:"Absent where it is gone."`
	State       string   `json:"state" enum:"member,excluded,waiting,gone"`
	Slots       int      `json:"slots"`
	Instances   *int     `json:"instances,omitempty" doc:"That it drives; absent where it says nothing here."`
	Commits     *float64 `json:"commits_per_s,omitempty" doc:"Turns of instances that it writes."`
	CPU         *float64 `json:"cpu,omitempty" doc:"Cores that its process uses."`
	SilentSince Time     `json:"silent_since,omitempty" doc:"Its last word, where that is late; absent: it is heard."`
	Draining    string   `json:"draining,omitempty" doc:"Why it gives its instances away; absent: it does not."`
}

// PulseWorker is a worker as it does.
type PulseWorker struct {
	Name        string            `json:"name"`
	Incarnation string            `json:"incarnation"`
	Version     string            `json:"version"`
	Groups      []string          `json:"groups" nullable:"false"`
	Labels      map[string]string `json:"labels,omitempty"`
	Slots       int               `json:"slots"`
	StartedAt   Time              `json:"started_at"`
	Draining    string            `json:"draining,omitempty"`
	Running     *int              `json:"running,omitempty" doc:"Attempts; absent where it says nothing here."`
	Load        float64           `json:"load,omitempty" doc:"Of its machine, over a minute."`
	FreeDisk    float64           `json:"free_disk,omitempty" doc:"Share, 0 to 1."`
	Outbox      int               `json:"outbox,omitempty"`
	SilentSince Time              `json:"silent_since,omitempty" doc:"Its last word, where that is late; absent: it is heard."`
}

// Queue is what waits in one place, and how that goes.
type Queue struct {
	Kind    string   `json:"kind" enum:"commands,group"`
	Name    string   `json:"name,omitempty" doc:"Of the worker group."`
	Waiting int      `json:"waiting"`
	Oldest  Time     `json:"oldest,omitempty" doc:"Since when the one that waits longest does."`
	In      *float64 `json:"in_per_s,omitempty" doc:"Absent while nothing was measured."`
	Out     *float64 `json:"out_per_s,omitempty"`
	Verdict string   `json:"verdict" enum:"empty,measuring,draining,steady,growing,stuck"`
	Workers int      `json:"workers,omitempty" doc:"Of the group."`
	Slots   int      `json:"slots,omitempty" doc:"Of its workers that take work."`
	Running int      `json:"running,omitempty" doc:"Attempts on its workers."`
}

// PulseStuck counts what does not go on.
type PulseStuck struct {
	Overdue int `json:"overdue" doc:"Attempts that are past the time by which they must have moved on."`
	Asked   int `json:"asked" doc:"Recoveries without an answer."`
	GivenUp int `json:"given_up" doc:"Recoveries that somebody must look at."`
}

// PulseDouble counts what would have been done twice, and was refused; of the masters that are there, since they began.
type PulseDouble struct {
	Commands int64 `json:"commands" doc:"Taken by another master before."`
	Commits  int64 `json:"commits" doc:"Of instances that another master had taken over."`
	Fires    int64 `json:"fires" doc:"Whose instance was there already."`
}

// PulseLimits are how long a node may say nothing before it is called gone.
type PulseLimits struct {
	MasterMS int64 `json:"master_ms"`
	WorkerMS int64 `json:"worker_ms"`
}

type pulseAnswer struct{ Body Pulse }

func (s *Server) pulseRoutes() {
	add(s, spec{
		id: "get-pulse", method: "GET", path: "/cluster/pulse", tag: "cluster", summary: "Show the cluster as it is now; the stream's topic cluster sends it when it changes",
		access: access{object: noObject},
	}, s.getPulse)
	s.pulseTimerRoutes()
}

func (s *Server) getPulse(ctx context.Context, _ *struct{}) (*pulseAnswer, error) {
	p, err := s.pulses.newest(ctx, s)
	if err != nil {
		return nil, err
	}
	return &pulseAnswer{Body: p.pulse}, nil
}

const (
	// masterSilent and workerSilent are when a word is late: two and a half of the times in which each says something.
	masterSilent = 2500 * time.Millisecond
	workerSilent = 5 * time.Second
)

// silent is the last word of a node, where that is late.
func silent(heard time.Time, known bool, late time.Duration, now time.Time) Time {
	if !known || now.Sub(heard) < late {
		return 0
	}
	return Time(dag.MillisOf(heard))
}
