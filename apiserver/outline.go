package apiserver

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// maxLine bounds the line of a culprit: what a row of a list can show, and some more for whoever points at it.
const maxLine = 300

// Outline is what a list says of an instance beside its own facts.
type Outline struct {
	Tasks    int      `json:"tasks" doc:"Its tasks that are to run; 0 where the page had too many to count."`
	Done     int      `json:"done" doc:"Those of them that have ended."`
	Culprit  *Culprit `json:"culprit,omitempty" doc:"The task that failed or was killed first; absent for none."`
	MedianMs int64    `json:"median_ms" doc:"Of the last 20 successes of its workflow; 0 where there is none."`
	Late     bool     `json:"late" doc:"It runs for longer than any of those, of three or more."`
}

// Culprit is the task that an instance failed by.
type Culprit struct {
	Task   string        `json:"task"`
	State  dag.TaskState `json:"state"`
	Reason dag.Reason    `json:"reason,omitempty"`
	Line   string        `json:"line,omitempty" doc:"The last line that it printed, or what the worker says of it; cut at 300 bytes."`
}

// addOutlines adds to the faces of a page what their rows do not hold.
func (s *Server) addOutlines(ctx context.Context, rows []sql.InstanceRow, faces []Instance) error {
	outlines, err := s.store.Outlines(ctx, rows)
	if err != nil {
		return fmt.Errorf("outline instances: %w", err)
	}
	for i := range faces {
		o := outlines[rows[i].ID]
		if o == nil {
			continue
		}
		faces[i].Outline = &Outline{Tasks: o.Tasks, Done: o.Done, MedianMs: o.Usual.Median.Milliseconds(), Late: o.Late}
		if c := o.Culprit; c != nil {
			// "ended with code 1" says less than the line before it.
			line := cmp.Or(lastLine(c.Tail), c.Message)
			faces[i].Outline.Culprit = &Culprit{Task: c.Task, State: c.State, Reason: c.Reason, Line: strings.ToValidUTF8(line[:min(len(line), maxLine)], "")}
		}
	}
	return nil
}
