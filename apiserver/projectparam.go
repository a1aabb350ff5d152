package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// ProjectParam is a parameter that every task of a project sees, below those of its workflow.
type ProjectParam struct {
	Name        string `json:"name"`
	Value       string `json:"value"`
	Description string `json:"description"`
	UpdatedAt   Time   `json:"updated_at"`
	UpdatedBy   string `json:"updated_by"`
}

type projectParamList struct{ Body List[ProjectParam] }

// ProjectParamPath names a parameter of a project in a path.
type ProjectParamPath struct {
	ProjectPath
	Param string `path:"param" maxLength:"255"`
}

type putProjectParam struct {
	ProjectParamPath
	Body struct {
		Value       Text   `json:"value"`
		Description string `json:"description,omitempty" maxLength:"4096"`
	}
}

type projectParamAnswer struct{ Body ProjectParam }

func (s *Server) projectParamRoutes() {
	const one = "/projects/{project}/params/{param}"
	edit := access{need: roleEditor, object: ofProject}
	add(s, spec{
		id: "list-project-params", method: "GET", path: "/projects/{project}/params", tag: "projects", summary: "List the parameters of a project",
		access: access{need: roleViewer, object: ofProject},
	}, s.listProjectParams)
	add(s, spec{id: "put-project-param", method: "PUT", path: one, tag: "projects", summary: "Make or change a parameter of a project", body: jsonBody, access: edit}, s.putProjectParam)
	add(s, spec{id: "delete-project-param", method: "DELETE", path: one, tag: "projects", summary: "Delete a parameter of a project", access: edit}, s.deleteProjectParam)
}

func projectParamFace(p sql.ProjectParam) ProjectParam {
	return ProjectParam{Name: p.Name, Value: p.Value, Description: p.Description, UpdatedAt: Time(p.UpdatedAt), UpdatedBy: p.UpdatedBy}
}

func (s *Server) listProjectParams(ctx context.Context, _ *ProjectPath) (*projectParamList, error) {
	rows, err := s.store.ProjectParams(ctx, callOf(ctx).project.ID)
	if err != nil {
		return nil, fmt.Errorf("list params: %w", err)
	}
	return &projectParamList{Body: list(rows, "", projectParamFace)}, nil
}

func (s *Server) putProjectParam(ctx context.Context, in *putProjectParam) (*projectParamAnswer, error) {
	c := callOf(ctx)
	if wrong := dag.CheckProjectParam(in.Param, string(in.Body.Value)); len(wrong) > 0 {
		return nil, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	p, err := s.store.PutProjectParam(ctx, sql.ProjectParam{
		ProjectID: c.project.ID, Name: in.Param, Value: string(in.Body.Value), Description: in.Body.Description, UpdatedAt: s.at(), UpdatedBy: c.who.name,
	})
	if errors.Is(err, sql.ErrFull) {
		return nil, wrongField(http.StatusConflict, "value", "too_many", "", "a project has at most %d parameters, of %d bytes together: they go into the environment of every task",
			sql.MaxProjectParams, sql.MaxProjectParamBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("put param: %w", err)
	}
	return &projectParamAnswer{Body: projectParamFace(p)}, nil
}

func (s *Server) deleteProjectParam(ctx context.Context, in *ProjectParamPath) (*struct{}, error) {
	if err := s.store.DeleteProjectParam(ctx, callOf(ctx).project.ID, in.Param); err != nil {
		return nil, fmt.Errorf("delete param: %w", err)
	}
	return nil, nil
}

// projectValues are the parameters of a project as the resolution of tasks wants them.
func (s *Server) projectValues(ctx context.Context, projectID int64) (map[string]string, error) {
	rows, err := s.store.ProjectParams(ctx, projectID)
	if err != nil {
		return nil, fmt.Errorf("read params of the project: %w", err)
	}
	values := make(map[string]string, len(rows))
	for _, p := range rows {
		values[p.Name] = p.Value
	}
	return values, nil
}
