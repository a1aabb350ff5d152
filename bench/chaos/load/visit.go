package load

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// visit starts one workflow and treats the instance as its shape says.
func (l *Load) visit(ctx context.Context, s Shape) {
	// A wish that was uttered is followed up beyond the end of the load.
	ctx = context.WithoutCancel(ctx)
	id := l.begin(ctx, s)
	if id == "" || l.NoTreats {
		return
	}
	switch s.treat {
	case "pause":
		l.sleep(500, 1500)
		l.mu.Lock()
		l.paused[id] = true
		l.mu.Unlock()
		l.control(ctx, id, "pause")
		l.sleep(1500, 4000)
		l.resume(ctx, id)
	case "stop":
		l.sleep(800, 4000)
		l.control(ctx, id, "stop")
	case "recover":
		if l.random(3) == 0 && l.final(ctx, id) {
			l.control(ctx, id, "recover")
		}
	}
}

func (l *Load) sleep(least, most int) {
	time.Sleep(time.Duration(least+l.random(most-least)) * time.Millisecond)
}

// resume is repeated until the instance is not paused any more: a resume that comes while
// the pause is not applied yet has nothing to undo.
func (l *Load) resume(ctx context.Context, id string) {
	for end := time.Now().Add(tryFor); time.Now().Before(end); l.sleep(500, 1000) {
		switch l.state(ctx, id) {
		case "pausing", "paused":
			l.control(ctx, id, "resume")
		case "success", "failed", "stopped", "quarantined":
			l.mu.Lock()
			delete(l.paused, id)
			l.mu.Unlock()
			return
		}
	}
}

// final waits for the end of an instance.
func (l *Load) final(ctx context.Context, id string) bool {
	for end := time.Now().Add(tryFor); time.Now().Before(end); l.sleep(300, 900) {
		switch l.state(ctx, id) {
		case "failed", "stopped":
			return true
		case "success", "quarantined":
			return false
		}
	}
	return false
}

// state asks for an instance's state, "" where nobody tells.
func (l *Load) state(ctx context.Context, id string) string {
	a := l.call(ctx, http.MethodGet, l.random(len(l.URLs)), "/instances/"+id, "", "", "")
	var in struct {
		State string `json:"state"`
	}
	if a.err != nil || json.Unmarshal(a.body, &in) != nil {
		return ""
	}
	return in.State
}

func (l *Load) control(ctx context.Context, id, verb string) {
	l.insist(ctx, Call{Verb: verb, Instance: id}, "/instances/"+id+"/"+verb)
}

// insist repeats a call, on one server after the other, until it has a definite answer,
// and writes down every try.
func (l *Load) insist(ctx context.Context, c Call, path string) answer {
	server := l.random(len(l.URLs))
	for end := time.Now().Add(tryFor); ; {
		c.Try++
		c.Begin = time.Now().UnixMilli()
		a := l.call(ctx, http.MethodPost, server+c.Try, path, "application/json", "{}", c.Key)
		line := c
		line.End, line.Status = time.Now().UnixMilli(), a.status
		switch {
		case a.err != nil:
			line.Outcome, line.Error = "unknown", a.err.Error()
		case a.status < http.StatusMultipleChoices:
			line.Outcome = "ok"
			var made struct {
				ID string `json:"instance_id"`
			}
			if c.Verb == "start" && json.Unmarshal(a.body, &made) == nil {
				line.Instance = made.ID
			}
		case a.status >= http.StatusInternalServerError || a.status == http.StatusTooManyRequests:
			line.Outcome, line.Error = "unknown", string(a.body)
		default:
			line.Outcome, line.Error = "refused", string(a.body)
		}
		l.History.Write(line)
		if line.Outcome != "unknown" || time.Now().After(end) {
			return a
		}
		time.Sleep(pauseBetween)
	}
}

// Settle resumes whatever still waits for it, when the load is over.
func (l *Load) Settle(ctx context.Context) {
	l.mu.Lock()
	var left []string
	for id := range l.paused {
		left = append(left, id)
	}
	l.mu.Unlock()
	for _, id := range left {
		l.resume(ctx, id)
	}
}
