package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// Environment is a named set of environment variables, which tasks of a project, or of all, take by its name.
type Environment struct {
	Name        string            `json:"name"`
	Variables   map[string]string `json:"variables"`
	Description string            `json:"description"`
	UpdatedAt   Time              `json:"updated_at"`
	UpdatedBy   string            `json:"updated_by"`
}

type environmentList struct{ Body List[Environment] }

// EnvironmentPath names an environment of a project in a path.
type EnvironmentPath struct {
	ProjectPath
	Environment string `path:"environment" maxLength:"512"`
}

// EnvironmentBody is what an environment is to be.
type EnvironmentBody struct {
	Variables   map[string]string `json:"variables"`
	Description string            `json:"description,omitempty" maxLength:"4096"`
}

type putEnvironment struct {
	EnvironmentPath
	Body EnvironmentBody
}

// GlobalEnvironmentPath names an environment of all projects in a path.
type GlobalEnvironmentPath struct {
	Environment string `path:"environment" maxLength:"512"`
}

type putGlobalEnvironment struct {
	GlobalEnvironmentPath
	Body EnvironmentBody
}

type environmentAnswer struct{ Body Environment }

func (s *Server) environmentRoutes() {
	const one = "/projects/{project}/environments/{environment}"
	edit := access{need: roleEditor, object: ofProject}
	add(s, spec{
		id: "list-environments", method: "GET", path: "/projects/{project}/environments", tag: "projects", summary: "List the environments of a project",
		access: access{need: roleViewer, object: ofProject},
	}, s.listEnvironments)
	add(s, spec{id: "put-environment", method: "PUT", path: one, tag: "projects", summary: "Make an environment of a project, or change its variables", body: jsonBody, access: edit}, s.putEnvironment)
	add(s, spec{id: "delete-environment", method: "DELETE", path: one, tag: "projects", summary: "Delete an environment of a project", access: edit}, s.deleteEnvironment)
	const global = "/environments/{environment}"
	admin := access{need: roleAdmin, object: noObject}
	add(s, spec{id: "list-global-environments", method: "GET", path: "/environments", tag: "projects", summary: "List the environments of all projects", access: access{object: noObject}}, s.listGlobalEnvironments)
	add(s, spec{
		id: "put-global-environment", method: "PUT", path: global, tag: "projects", summary: "Make an environment of all projects, or change its variables", body: jsonBody, access: admin,
	}, s.putGlobalEnvironment)
	add(s, spec{id: "delete-global-environment", method: "DELETE", path: global, tag: "projects", summary: "Delete an environment of all projects", access: admin}, s.deleteGlobalEnvironment)
}

func environmentFace(e sql.Environment) Environment {
	variables := e.Variables
	if variables == nil {
		variables = map[string]string{}
	}
	return Environment{Name: e.Name, Variables: variables, Description: e.Description, UpdatedAt: Time(e.UpdatedAt), UpdatedBy: e.UpdatedBy}
}

func (s *Server) listEnvironments(ctx context.Context, _ *ProjectPath) (*environmentList, error) {
	return s.environmentsOf(ctx, callOf(ctx).project.ID)
}

func (s *Server) listGlobalEnvironments(ctx context.Context, _ *struct{}) (*environmentList, error) {
	return s.environmentsOf(ctx, sql.AllProjects)
}

func (s *Server) environmentsOf(ctx context.Context, project int64) (*environmentList, error) {
	rows, err := s.store.Environments(ctx, project)
	if err != nil {
		return nil, fmt.Errorf("list environments: %w", err)
	}
	return &environmentList{Body: list(rows, "", environmentFace)}, nil
}

func (s *Server) putEnvironment(ctx context.Context, in *putEnvironment) (*environmentAnswer, error) {
	return s.saveEnvironment(ctx, callOf(ctx).project.ID, in.Environment, in.Body)
}

func (s *Server) putGlobalEnvironment(ctx context.Context, in *putGlobalEnvironment) (*environmentAnswer, error) {
	return s.saveEnvironment(ctx, sql.AllProjects, in.Environment, in.Body)
}

func (s *Server) saveEnvironment(ctx context.Context, project int64, name string, body EnvironmentBody) (*environmentAnswer, error) {
	if wrong := dag.CheckEnvironment(name, body.Variables); len(wrong) > 0 {
		return nil, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	e, err := s.store.PutEnvironment(ctx, sql.Environment{
		ProjectID: project, Name: name, Variables: body.Variables, Description: body.Description, UpdatedAt: s.at(), UpdatedBy: callOf(ctx).who.name,
	})
	if errors.Is(err, sql.ErrFull) {
		return nil, wrongField(http.StatusConflict, "variables", "too_many", "", "there are at most %d environments of a project, or of all, each of %d bytes",
			sql.MaxEnvironments, sql.MaxEnvironmentBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("put environment: %w", err)
	}
	return &environmentAnswer{Body: environmentFace(e)}, nil
}

func (s *Server) deleteEnvironment(ctx context.Context, in *EnvironmentPath) (*struct{}, error) {
	return s.dropEnvironment(ctx, callOf(ctx).project.ID, in.Environment)
}

func (s *Server) deleteGlobalEnvironment(ctx context.Context, in *GlobalEnvironmentPath) (*struct{}, error) {
	return s.dropEnvironment(ctx, sql.AllProjects, in.Environment)
}

func (s *Server) dropEnvironment(ctx context.Context, project int64, name string) (*struct{}, error) {
	if err := s.store.DeleteEnvironment(ctx, project, name); err != nil {
		return nil, fmt.Errorf("delete environment: %w", err)
	}
	return nil, nil
}

// environments are those of a project and of all as the resolution of tasks wants them.
func (s *Server) environments(ctx context.Context, projectID int64) (map[string]map[string]string, error) {
	known := map[string]map[string]string{}
	for _, project := range []int64{sql.AllProjects, projectID} { // the project's own win
		rows, err := s.store.Environments(ctx, project)
		if err != nil {
			return nil, fmt.Errorf("read environments of the project: %w", err)
		}
		for _, e := range rows {
			known[dag.FoldName(e.Name)] = e.Variables
		}
	}
	return known, nil
}

// warnOfEnvironments says which tasks name an environment that is not there, the first of each.
func (s *Server) warnOfEnvironments(ctx context.Context, project int64, r *dag.Review) error {
	var known map[string]map[string]string
	told := map[string]bool{}
	for i := range r.Definition.Tasks {
		t := &r.Definition.Tasks[i]
		if t.Environment == "" || told[t.Environment] || len(told) == maxErrors {
			continue
		}
		told[t.Environment] = true
		if known == nil {
			var err error
			if known, err = s.environments(ctx, project); err != nil {
				return err
			}
		}
		if _, ok := known[dag.FoldName(t.Environment)]; !ok {
			r.AddWarning(dag.FieldError{
				Field: fmt.Sprintf("tasks[%d].environment", i), Code: dag.CodeNoEnvironment, Value: shown(t.Environment),
				Args:    dag.Args{"task": t.Name, "environment": t.Environment},
				Message: fmt.Sprintf("the project has no environment %q: the task would fail", shown(t.Environment)),
			})
		}
	}
	return nil
}
