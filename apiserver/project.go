package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// Project is a project as the API shows it.
type Project struct {
	ID          ID     `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Role        string `json:"role" doc:"What the caller may do in it."`
	CreatedAt   Time   `json:"created_at"`
	UpdatedAt   Time   `json:"updated_at"`
}

// ProjectPath names a project in a path; it is exported for huma alone, as the others of its kind.
type ProjectPath struct {
	Project string `path:"project" maxLength:"512" doc:"The project's name."`
}

// Paged asks for a part of a list.
type Paged struct {
	Cursor string `query:"cursor" maxLength:"1024" doc:"next_cursor of the page before."`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Items per page."`
}

func (p Paged) page() sql.Page {
	limit := p.Limit
	if limit == 0 {
		limit = defaultPage
	}
	return sql.Page{Cursor: p.Cursor, Limit: limit}
}

type projectAnswer struct {
	Status int
	Body   Project
}

type projectList struct{ Body List[Project] }

type putProject struct {
	ProjectPath
	IfNoneMatch string `header:"If-None-Match" enum:"*" doc:"* creates a project and changes none that is there."`
	Body        *struct {
		Description string `json:"description,omitempty" maxLength:"65536"`
	}
}

func (s *Server) projectRoutes() {
	add(s, spec{id: "list-projects", method: "GET", path: "/projects", tag: "projects", summary: "List the projects that the caller may see", access: access{object: perItem}}, s.listProjects)
	add(s, spec{id: "get-project", method: "GET", path: "/projects/{project}", tag: "projects", summary: "Read a project", access: access{need: roleViewer, object: ofProject}}, s.getProject)
	add(s, spec{
		id: "put-project", method: "PUT", path: "/projects/{project}", tag: "projects", summary: "Create a project (admin), or change its description (owner)", body: jsonBody, optional: true,
		access: access{need: roleOwner, object: ofProject},
	}, s.putProject)
	add(s, spec{id: "delete-project", method: "DELETE", path: "/projects/{project}", tag: "projects", summary: "Delete an empty project", access: access{need: roleOwner, object: ofProject}}, s.deleteProject)
}

func projectFace(p sql.Project, r role) Project {
	return Project{ID: ID(p.ID), Name: p.Name, Description: p.Description, Role: r.String(), CreatedAt: Time(p.CreatedAt), UpdatedAt: Time(p.UpdatedAt)}
}

func (s *Server) listProjects(ctx context.Context, in *Paged) (*projectList, error) {
	who := callOf(ctx).who
	ids, all := who.projects()
	if all {
		rows, next, err := s.store.Projects(ctx, in.page())
		if err != nil {
			return nil, fmt.Errorf("list projects: %w", err)
		}
		return &projectList{Body: list(rows, next, func(p sql.Project) Project { return projectFace(p, who.role(p.ID)) })}, nil
	}
	return s.ownProjects(ctx, who, ids, in.page())
}

// ownProjects lists a few projects by id; the cursor is the last id given.
func (s *Server) ownProjects(ctx context.Context, who *principal, ids []int64, page sql.Page) (*projectList, error) {
	var after int64
	if page.Cursor != "" {
		var ok bool
		if after, ok = parseID(page.Cursor); !ok {
			return nil, sql.ErrBadCursor
		}
	}
	slices.Sort(ids)
	out := List[Project]{Items: []Project{}}
	for _, id := range ids {
		if id <= after {
			continue
		}
		if len(out.Items) == page.Limit {
			out.NextCursor = fmt.Sprint(int64(out.Items[len(out.Items)-1].ID))
			break
		}
		p, err := s.store.ProjectByID(ctx, id)
		if errors.Is(err, sql.ErrNotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, fmt.Errorf("read project %d: %w", id, err)
		}
		out.Items = append(out.Items, projectFace(p, who.role(id)))
	}
	return &projectList{Body: out}, nil
}

func (s *Server) getProject(ctx context.Context, _ *ProjectPath) (*projectAnswer, error) {
	c := callOf(ctx)
	return &projectAnswer{Status: http.StatusOK, Body: projectFace(c.project, c.who.role(c.project.ID))}, nil
}

func (s *Server) putProject(ctx context.Context, in *putProject) (*projectAnswer, error) {
	c := callOf(ctx)
	p := c.project
	if p.ID != 0 && p.Name != in.Project {
		return nil, nameTaken("project", in.Project, p.Name)
	}
	if p.ID != 0 && in.IfNoneMatch != "" {
		return nil, wrongField(http.StatusConflict, "project", "name_taken", in.Project, "there is a project of that name")
	}
	if in.Body != nil {
		p.Description = in.Body.Description
	}
	if p.ID == 0 {
		if wrong := dag.CheckName("project", in.Project); len(wrong) > 0 {
			return nil, problem(http.StatusUnprocessableEntity, wrong[0].Message, wrong...)
		}
		p.Name = in.Project
		made, err := s.store.CreateProject(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("create project: %w", err)
		}
		return &projectAnswer{Status: http.StatusCreated, Body: projectFace(made, c.who.role(made.ID))}, nil
	}
	p, err := s.store.UpdateProject(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("update project: %w", err)
	}
	return &projectAnswer{Status: http.StatusOK, Body: projectFace(p, c.who.role(p.ID))}, nil
}

// nameTaken refuses a name that is another one's but for case or Unicode form.
func nameTaken(field, name, existing string) *Problem {
	return wrongField(http.StatusConflict, field, "name_taken", name, "the name is taken by %q, which differs only by case or Unicode form", existing)
}

func (s *Server) deleteProject(ctx context.Context, _ *ProjectPath) (*struct{}, error) {
	if err := s.store.DeleteProject(ctx, callOf(ctx).project.ID); err != nil {
		return nil, fmt.Errorf("delete project: %w", err)
	}
	s.known.forget()
	return nil, nil
}
