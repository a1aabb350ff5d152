package schedule

import (
	"fmt"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
)

// Document is a file of schedules and of the calendars that they ask for, as people keep it.
type Document struct {
	Calendars []NamedCalendar `json:"calendars,omitempty"`
	Schedules []Named         `json:"schedules,omitempty"`
}

// NamedCalendar is a calendar with its name.
type NamedCalendar struct {
	Name string   `json:"name" rule:"required"`
	Days []string `json:"days" rule:"required"`
}

// Named is a schedule with its name and that of its workflow.
type Named struct {
	Head
	Spec
}

// Head says which schedule a document is about. Enabled is nil where the one that is there stays as it is.
type Head struct {
	Workflow string `json:"workflow" rule:"required"`
	Name     string `json:"name" rule:"required"`
	Enabled  *bool  `json:"enabled,omitempty"`
}

// ReadDocument implements document.Reader.
func (s *Named) ReadDocument(d *document.Decoder, n *document.Node, at *document.Path) {
	d.Struct(n, at, document.Keys{Whose: "a schedule"}, &s.Head, &s.Spec)
}

// Read reads a file; format is yaml or json. It returns everything that is wrong at once, each with its field, line and
// column. Whether the calendars, workflows and parameters that are named are there is for the server to say.
func Read(text []byte, format string) (*Document, []dag.FieldError) {
	root, wrong := document.Read(text, format)
	if root == nil || len(wrong) > 0 {
		return nil, wrong
	}
	doc := &Document{}
	if wrong = document.Decode(root, doc); len(wrong) > 0 {
		return nil, wrong
	}
	if len(doc.Schedules)+len(doc.Calendars) == 0 {
		return nil, []dag.FieldError{{Field: document.Body, Code: document.CodeRequired, Message: "there is neither a schedule nor a calendar", Line: 1, Column: 1}}
	}
	calendars := map[string]Calendar{}
	for i, c := range doc.Calendars {
		at := fmt.Sprintf("calendars[%d]", i)
		wrong = append(append(wrong, dag.CheckName(at+".name", c.Name)...), c.Calendar().Check(at+".days")...)
		calendars[dag.FoldName(c.Name)] = c.Calendar()
	}
	for i := range doc.Schedules {
		s := &doc.Schedules[i]
		at := fmt.Sprintf("schedules[%d].", i)
		wrong = append(append(wrong, dag.CheckName(at+"workflow", s.Workflow)...), dag.CheckName(at+"name", s.Name)...)
		_, found := s.Compile(0, calendars, 0)
		for _, e := range found {
			// Those that the file does not have may be in the project.
			if e.Code != CodeUnknownCalendar {
				e.Field = at + e.Field
				wrong = append(wrong, e)
			}
		}
	}
	if wrong = document.Sort(document.Place(root, nil, wrong)); len(wrong) > 0 {
		return nil, wrong
	}
	return doc, nil
}

// Calendar returns the calendar without its name.
func (c *NamedCalendar) Calendar() Calendar { return Calendar{Days: c.Days} }
