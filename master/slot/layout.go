package slot

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/porpoise/porpoise/registry"
)

// Where the barrier lives in the registry. An ack stands below AckFolder under its master's
// node and goes with that master's membership.
const (
	LockName   = "layout"
	Folder     = "layout"
	PrepareKey = Folder + "/prepare"
	CommitKey  = Folder + "/commit"
	AckFolder  = Folder + "/ack"
	AskKey     = Folder + "/ask"
)

const (
	// maxMembers bounds a layout: its commit compares the ack of every member in one transaction,
	// and etcd takes 128 comparisons. Masters beyond it, by node, own nothing.
	maxMembers = 100
	// maxSteps bounds what a commit tells of its own making.
	maxSteps = 400
	// maxSlots bounds the owners of a layout, for its size in the registry.
	maxSlots = 1 << 16
)

// Prepare asks every master to stop taking commands and to ack. Those that do wait for a Commit
// of this epoch or a later one.
type Prepare struct {
	Epoch   int64    `json:"epoch"`
	Members []Master `json:"members"`
	// Excluded are registered masters that were silent before: nobody waits for them.
	Excluded    []Master `json:"excluded,omitempty"`
	Revision    int64    `json:"revision"`    // of the membership that Members is
	Coordinator string   `json:"coordinator"` // node:incarnation
	Cause       string   `json:"cause"`
	At          int64    `json:"at"`  // UTC milliseconds
	Try         int      `json:"try"` // from 1: it is sent again to who has not acked
}

// Ack says that a master takes no commands until a Commit of this epoch or a later one, and
// that its claims have ended.
type Ack struct {
	Epoch       int64  `json:"epoch"`
	Incarnation string `json:"incarnation"`
	At          int64  `json:"at"`
}

// Ask is somebody's wish that the masters agree anew, though their list has not changed: whoever was left out and has
// answered since is let in at once. There is one, the newest; it stays when it is answered.
type Ask struct {
	ID string `json:"id"`
	By string `json:"by"`
	At int64  `json:"at"` // UTC milliseconds
}

// Commit is a layout in force.
type Commit struct {
	Epoch    int64    `json:"epoch"`
	Members  []Master `json:"members"`
	Excluded []Master `json:"excluded,omitempty"`
	// Owners has the index of its master for every slot.
	Owners      []int  `json:"owners"`
	Cause       string `json:"cause"`
	Coordinator string `json:"coordinator"`
	StartedAt   int64  `json:"started_at"`
	At          int64  `json:"at"`
	// Moved counts the slots that have another owner than in the layout before.
	Moved int `json:"moved"`
	// Restarts counts the epochs that were given up on the way to this one.
	Restarts int    `json:"restarts"`
	Steps    []Step `json:"steps"`
	// Ask is the id of the newest ask that this layout answers.
	Ask string `json:"ask,omitempty"`
}

// Step is one thing that happened in a rebalance.
type Step struct {
	Epoch int64  `json:"epoch"`
	What  string `json:"what"` // prepare, ack, resend, exclude, restart, commit
	Node  string `json:"node,omitempty"`
	Note  string `json:"note,omitempty"`
	At    int64  `json:"at"` // UTC milliseconds
}

// Of returns which slots of the layout are a master's; none where it is no member.
func (c *Commit) Of(m Master) []bool {
	owned := make([]bool, len(c.Owners))
	for s, i := range c.Owners {
		owned[s] = sameProcess(c.Members[i], m)
	}
	return owned
}

// check says why a commit cannot be one of a cluster with n slots; 0 is any number.
func (c *Commit) check(n int) error {
	switch {
	case c.Epoch <= 0:
		return fmt.Errorf("epoch %d", c.Epoch)
	case len(c.Owners) == 0 || len(c.Owners) > maxSlots || n != 0 && len(c.Owners) != n:
		return fmt.Errorf("%d slots, the cluster has %d", len(c.Owners), n)
	case len(c.Members) > maxMembers:
		return fmt.Errorf("%d members", len(c.Members))
	}
	for s, i := range c.Owners {
		if i < 0 || i >= len(c.Members) {
			return fmt.Errorf("slot %d belongs to member %d of %d", s, i, len(c.Members))
		}
	}
	return nil
}

// sameProcess says that two records are of one life of one node.
func sameProcess(a, b Master) bool { return a.Node == b.Node && a.Incarnation == b.Incarnation }

// find returns the place of a process in a list, or -1.
func find(list []Master, m Master) int {
	for i := range list {
		if sameProcess(list[i], m) {
			return i
		}
	}
	return -1
}

// Ackd is an ack with the revision at which it stands.
type Ackd struct {
	Ack
	Revision int64
}

// Standing is what the registry has of the barrier.
type Standing struct {
	Prepare *Prepare
	Commit  *Commit
	// CommitRevision is that of the commit's key; 0 while there is none.
	CommitRevision int64
	Acks           map[string]Ackd // by node
	Ask            *Ask
	Revision       int64
	Wiped          bool
}

// Read decodes the folder of the barrier. n is the cluster's number of slots, 0 for any. What
// cannot be read is left out, and named in the error: a stranger's key must not stop the rest.
func Read(listing registry.Listing, n int) (Standing, error) {
	st := Standing{Acks: map[string]Ackd{}, Revision: listing.Revision, Wiped: listing.Wiped}
	var wrong []error
	for _, e := range listing.Entries {
		node, isAck := strings.CutPrefix(e.Key, AckFolder+"/")
		var err error
		switch {
		case isAck:
			var a Ack
			if err = json.Unmarshal(e.Value, &a); err == nil {
				st.Acks[node] = Ackd{a, e.ModRevision}
			}
		case e.Key == PrepareKey:
			p := &Prepare{}
			if err = json.Unmarshal(e.Value, p); err == nil && p.Epoch <= 0 {
				err = fmt.Errorf("epoch %d", p.Epoch)
			}
			if err == nil {
				st.Prepare = p
			}
		case e.Key == AskKey:
			a := &Ask{}
			if err = json.Unmarshal(e.Value, a); err == nil && a.ID == "" {
				err = errors.New("no id")
			}
			if err == nil {
				st.Ask = a
			}
		case e.Key == CommitKey:
			st.CommitRevision = e.ModRevision // a commit that is damaged is written over
			c := &Commit{}
			if err = json.Unmarshal(e.Value, c); err == nil {
				err = c.check(n)
			}
			if err == nil {
				st.Commit = c
			}
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", e.Key, err))
		}
	}
	return st, errors.Join(wrong...)
}
