package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/internal/dolphin"
	"github.com/porpoise/porpoise/sql"
)

// maxOpenFindings bounds what is left to do that is listed one by one; the report has all of it.
const maxOpenFindings = 500

// ImportOptions is an export of another scheduler.
type ImportOptions struct {
	Text  string            `json:"text" doc:"The export of DolphinScheduler 3.x, as its Export button gives it."`
	Names map[string]string `json:"names,omitempty" maxProperties:"1000" doc:"Names for what an export knows by its code alone: environment:12610318974999 is such a key. Its kinds are project, workflow, task, environment, datasource and task_group."`
}

// Imported is what an export becomes. Nothing of it is saved.
type Imported struct {
	Workflows []ImportedWorkflow `json:"workflows" nullable:"false" doc:"Sub-workflows before those that run them: they can be saved in this order."`
	Schedules []NamedSchedule    `json:"schedules" nullable:"false" doc:"Their schedules as they can be saved, paused."`
	Open      []ImportFinding    `json:"open" nullable:"false" doc:"What is left to do by hand, or has no equivalent; at most 500 of them."`
	Count     ImportCount        `json:"count"`
	Report    string             `json:"report" doc:"What became of every field, for people, as the command line writes it."`
}

// ImportedWorkflow is one workflow of an export.
type ImportedWorkflow struct {
	Name   string           `json:"name"`
	Was    string           `json:"was,omitempty" doc:"Its name there, where that is not allowed here."`
	Tasks  int              `json:"tasks"`
	Text   string           `json:"text" doc:"Its definition, as YAML."`
	Errors []dag.FieldError `json:"errors" nullable:"false" doc:"Why it can't be saved as it is."`
	Exists bool             `json:"exists" doc:"The project has a workflow of this name."`
}

// ImportFinding says what became of a field of the export.
type ImportFinding struct {
	About   string `json:"about" doc:"The workflow, task or schedule that has the field."`
	Field   string `json:"field" doc:"Its path in the export."`
	Kind    string `json:"kind" enum:"hand,none" doc:"hand: it came over in part, and somebody has to finish it. none: it has no equivalent and was left out."`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// ImportCount counts the fields by what became of them.
type ImportCount struct {
	Mapped  int `json:"mapped"`
	Changed int `json:"changed" doc:"In another form, which is worth a look."`
	Hand    int `json:"hand"`
	None    int `json:"none"`
}

type readImport struct {
	ProjectPath
	Body ImportOptions
}

type importAnswer struct{ Body Imported }

func (s *Server) importRoutes() {
	add(s, spec{
		id: "read-import", method: "POST", path: "/projects/{project}/import/dolphinscheduler", tag: "workflows",
		summary: "Say what an export of DolphinScheduler becomes here, and save nothing", body: textBody, unaudited: true,
		access: access{need: roleViewer, object: ofProject},
	}, s.readImport)
}

func (s *Server) readImport(ctx context.Context, in *readImport) (*importAnswer, error) {
	if wrong := wrongNames(in.Body.Names); len(wrong) > 0 {
		return nil, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	// It takes a processor for a while, as trials do.
	select {
	case s.trials <- struct{}{}:
		defer func() { <-s.trials }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	result, err := dolphin.Import([]byte(in.Body.Text), dolphin.Options{Names: in.Body.Names})
	if errors.Is(err, dolphin.ErrNotExport) {
		return nil, wrongField(http.StatusUnprocessableEntity, "text", "not_an_export", "", "%v", err)
	}
	if err != nil {
		return nil, fmt.Errorf("read an import: %w", err)
	}
	out, err := importFace(result)
	if err != nil {
		return nil, err
	}
	for i := range out.Workflows {
		switch _, err := s.store.Workflow(ctx, callOf(ctx).project.ID, out.Workflows[i].Name); {
		case err == nil:
			out.Workflows[i].Exists = true
		case !errors.Is(err, sql.ErrNotFound):
			return nil, fmt.Errorf("read workflow: %w", err)
		}
	}
	return &importAnswer{Body: out}, nil
}

// wrongNames says which names for codes are none.
func wrongNames(names map[string]string) (wrong []dag.FieldError) {
	for _, code := range slices.Sorted(maps.Keys(names)) {
		field := "names." + code
		if !dolphin.Coded(code) {
			wrong = append(wrong, dag.FieldError{Field: "names", Code: document.CodeInvalid, Value: shown(code), Message: "want KIND:CODE with one of the kinds " + strings.Join(dolphin.Kinds(), ", ")})
			continue
		}
		wrong = append(wrong, dag.CheckName(field, names[code])...)
	}
	return wrong[:min(len(wrong), maxErrors)]
}

func importFace(result *dolphin.Result) (Imported, error) {
	out := Imported{Workflows: []ImportedWorkflow{}, Schedules: []NamedSchedule{}, Open: []ImportFinding{}}
	for i := range result.Workflows {
		w := &result.Workflows[i]
		one := ImportedWorkflow{Name: w.Name, Was: w.Was, Tasks: len(w.Tasks), Text: string(w.YAML), Errors: []dag.FieldError{}}
		one.Errors = append(one.Errors, w.Refused[:min(len(w.Refused), maxErrors)]...)
		out.Workflows = append(out.Workflows, one)
	}
	count := result.Count()
	out.Count = ImportCount{Mapped: count[dolphin.Mapped], Changed: count[dolphin.Changed], Hand: count[dolphin.Hand], None: count[dolphin.None]}
	result.Each(func(about string, findings []dolphin.Finding) {
		for _, f := range findings {
			if f.Kind.Open() && len(out.Open) < maxOpenFindings {
				out.Open = append(out.Open, ImportFinding{About: about, Field: f.Field, Kind: string(f.Kind), Code: f.Code, Message: f.Message})
			}
		}
	})
	var report strings.Builder
	if err := result.WriteText(&report); err != nil {
		return out, fmt.Errorf("write the report of an import: %w", err)
	}
	out.Report = report.String()
	file, err := result.ScheduleFile()
	if err != nil || file == nil {
		return out, err
	}
	doc, wrong := schedule.Read(file, document.YAML)
	if len(wrong) > 0 {
		return out, fmt.Errorf("read the schedules of an import: %w", &wrong[0])
	}
	text, err := json.Marshal(doc.Schedules)
	if err != nil {
		return out, fmt.Errorf("write the schedules of an import: %w", err)
	}
	if err := json.Unmarshal(text, &out.Schedules); err != nil {
		return out, fmt.Errorf("read the schedules of an import: %w", err)
	}
	return out, nil
}
