package apiserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"sync"

	"github.com/porpoise/porpoise/dag"
)

// TaskType describes a task type to a form.
type TaskType struct {
	Type        string         `json:"type"`
	Category    string         `json:"category" enum:"run,flow" doc:"run does the work, on a worker; flow gives the graph its shape or its pace."`
	Description string         `json:"description"`
	Schema      map[string]any `json:"schema" doc:"JSON Schema 2020-12 of one task, complete in itself; its properties are the keys of the text. x-order is the place of a property in a form, x-advanced says that a form shows it only when asked, x-editor names a control where type and format do not say it."`
	Required    []string       `json:"required" nullable:"false" doc:"The keys that every task of this type must have."`
}

// WorkflowForm describes a workflow's own keys to a form.
type WorkflowForm struct {
	Schema   map[string]any `json:"schema" doc:"JSON Schema 2020-12 of a workflow without its tasks."`
	Required []string       `json:"required" nullable:"false"`
}

// TaskTypes is all that a form needs to know of the language of definitions.
type TaskTypes struct {
	Items    []TaskType   `json:"items" nullable:"false" doc:"In the order in which people see them."`
	Workflow WorkflowForm `json:"workflow"`
}

type readTaskTypes struct {
	IfNoneMatch string `header:"If-None-Match" doc:"The ETag of an earlier answer: 304 where it still holds."`
}

type taskTypesAnswer struct {
	Status       int
	ETag         string `header:"ETag"`
	CacheControl string `header:"Cache-Control"`
	Body         TaskTypes
}

func (s *Server) taskTypeRoutes() {
	add(s, spec{
		id: "list-task-types", method: "GET", path: "/task-types", tag: "workflows", summary: "Read the task types with the schemas of their forms",
		access: access{object: noObject},
	}, s.listTaskTypes)
}

// taskTypes is made once: it depends on nothing but the program.
var taskTypes = sync.OnceValue(func() *taskTypesAnswer {
	out := &taskTypesAnswer{Status: http.StatusOK, CacheControl: "private, no-cache"}
	for _, t := range dag.DescribeTaskTypes() {
		out.Body.Items = append(out.Body.Items, TaskType{
			Type: t.Type, Category: string(t.Category), Description: t.Description, Schema: t.Schema, Required: t.Required,
		})
	}
	form, required := dag.DescribeWorkflow()
	out.Body.Workflow = WorkflowForm{Schema: form, Required: required}
	sum := sha256.Sum256(marshalJSON(out.Body))
	out.ETag = fmt.Sprintf("%q", hex.EncodeToString(sum[:12]))
	return out
})

func (s *Server) listTaskTypes(_ context.Context, in *readTaskTypes) (*taskTypesAnswer, error) {
	out := *taskTypes()
	if in.IfNoneMatch == out.ETag {
		out.Status = http.StatusNotModified
	}
	return &out, nil
}
