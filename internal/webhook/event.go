package webhook

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/listen"
)

// TestKind is what an event is that nothing has happened for: somebody tries a listener.
const TestKind listen.Kind = "test"

// layout is RFC 3339 with milliseconds, as everywhere in the API.
const layout = "2006-01-02T15:04:05.000Z07:00"

// Event is what a listener is told, as the body has it.
type Event struct {
	ID            string      `json:"id"`
	Event         listen.Kind `json:"event"`
	Listener      string      `json:"listener,omitempty"`       // its name; absent in a reply
	CorrelationID string      `json:"correlation_id,omitempty"` // of a reply
	Project       string      `json:"project"`
	Workflow      string      `json:"workflow,omitempty"`
	InstanceID    string      `json:"instance_id,omitempty"`
	Seq           int64       `json:"seq"`
	At            string      `json:"at"`
	State         string      `json:"state,omitempty"`
	Reason        string      `json:"reason,omitempty"`
	Task          string      `json:"task,omitempty"`
	Attempt       int         `json:"attempt,omitempty"`
	Round         int         `json:"round,omitempty"`
	Message       string      `json:"message,omitempty"`
	By            string      `json:"by,omitempty"`
	Warning       bool        `json:"warning,omitempty"`
	ScheduleTime  string      `json:"schedule_time,omitempty"`
	Schedule      string      `json:"schedule,omitempty"` // where it is about one, and no instance
	Timer         string      `json:"timer,omitempty"`    // likewise
}

// EventID names an event of an instance; it is the same in every call about it.
func EventID(instance, seq int64) string { return fmt.Sprintf("%d-%d", instance, seq) }

// Moment writes a moment as the body of a call has it, "" for none.
func Moment(at dag.Millis) string {
	if at == 0 {
		return ""
	}
	return at.Time().UTC().Format(layout)
}

// Alert fills in what a fact says that is about no instance: id names it alone.
func (e *Event) Alert(id int64, fact *listen.Fact) {
	e.Tell(id, fact)
	e.InstanceID, e.Schedule, e.Timer = "", fact.Schedule, fact.Timer
}

// Tell fills in what the fact says.
func (e *Event) Tell(instance int64, fact *listen.Fact) {
	e.ID, e.Event, e.Workflow, e.InstanceID, e.Seq = EventID(instance, fact.Seq), fact.Kind, fact.Workflow, strconv.FormatInt(instance, 10), fact.Seq
	e.At, e.State, e.Reason, e.Task, e.Attempt, e.Round = Moment(fact.At), fact.State, string(fact.Reason), fact.TaskName, fact.Attempt, fact.Round
	e.Message, e.By, e.Warning = fact.Message, fact.By, fact.Warning
}

// To makes the message that tells a receiver of the event.
func (e *Event) To(url string, secret []byte) Message {
	body, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("webhook: event %s: %v", e.ID, err)) // texts and numbers alone: it can't fail
	}
	return Message{URL: url, Event: e.ID, Secret: secret, Body: body}
}
