package load

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// Schedule fires by itself during a run, as the verdict needs to know it.
type Schedule struct {
	Name     string `json:"name"`
	Workflow string `json:"workflow"`
	EveryMS  int64  `json:"every_ms,omitempty"` // at the multiples of it since 1970; 0 is by ends
	After    string `json:"after,omitempty"`    // the workflow whose ends fire, however they end
	Overlap  string `json:"overlap,omitempty"`
}

// Schedules lists them, one of each overlap policy. What they start is in Shapes, where nobody else starts it.
func Schedules() []Schedule {
	return []Schedule{
		{Name: "each second", Workflow: "ticked", EveryMS: 1000},
		{Name: "skip", Workflow: "slow", EveryMS: 5000, Overlap: "skip"},
		{Name: "wait", Workflow: "slow", EveryMS: 5000, Overlap: "wait"},
		{Name: "replace", Workflow: "slow", EveryMS: 5000, Overlap: "replace"},
		{Name: "after slow", Workflow: "followed", After: "slow"},
	}
}

// document is the schedule as the API takes it.
func (s Schedule) document() string {
	doc := map[string]any{}
	if s.EveryMS > 0 {
		doc["cron"] = fmt.Sprintf("@every %ds", s.EveryMS/1000)
	}
	if s.After != "" {
		doc["after"] = map[string]any{"workflow": s.After, "states": []string{"success", "failed", "stopped"}}
	}
	if s.Overlap != "" {
		doc["overlap"] = s.Overlap
	}
	text, _ := json.Marshal(doc) // texts and lists of them: it can't fail
	return string(text)
}

// Schedules lists those that fire: all, or those of the shapes that are asked for.
func (l *Load) Schedules() []Schedule {
	return slices.DeleteFunc(Schedules(), func(s Schedule) bool { return len(l.Only) > 0 && !slices.Contains(l.Only, s.Workflow) })
}

// schedule saves the schedules. They fire from then on.
func (l *Load) schedule(ctx context.Context) error {
	for _, s := range l.Schedules() {
		path := "/projects/" + project + "/workflows/" + url.PathEscape(s.Workflow) + "/schedules/" + url.PathEscape(s.Name)
		if err := l.must(ctx, http.MethodPut, path, "application/json", s.document()); err != nil {
			return err
		}
	}
	return nil
}

// unschedule pauses all schedules, so that there is an end. It is repeated until it is answered.
func (l *Load) unschedule(ctx context.Context) {
	if len(l.Schedules()) > 0 {
		l.insist(context.WithoutCancel(ctx), Call{Verb: "unschedule"}, "/projects/"+project+"/schedules/pause")
	}
}
