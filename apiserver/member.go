package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/porpoise/porpoise/sql"
)

// Member is what a user may do in a project.
type Member struct {
	User string `json:"user"`
	Role string `json:"role" enum:"viewer,operator,editor,owner"`
}

type memberList struct{ Body List[Member] }

// MemberPath names a member of a project in a path.
type MemberPath struct {
	ProjectPath
	User string `path:"user" maxLength:"512"`
}

type putMember struct {
	MemberPath
	Body struct {
		Role string `json:"role" enum:"viewer,operator,editor,owner"`
	}
}

type memberAnswer struct{ Body Member }

func (s *Server) memberRoutes() {
	own := access{need: roleOwner, object: ofProject}
	add(s, spec{id: "list-members", method: "GET", path: "/projects/{project}/members", tag: "members", summary: "List who has which role", access: access{need: roleViewer, object: ofProject}}, s.listMembers)
	add(s, spec{id: "put-member", method: "PUT", path: "/projects/{project}/members/{user}", tag: "members", summary: "Give a user a role", body: jsonBody, access: own}, s.putMember)
	add(s, spec{id: "delete-member", method: "DELETE", path: "/projects/{project}/members/{user}", tag: "members", summary: "Take a user's role away", access: own}, s.deleteMember)
}

func (s *Server) listMembers(ctx context.Context, _ *ProjectPath) (*memberList, error) {
	rows, err := s.store.Members(ctx, callOf(ctx).project.ID)
	if err != nil {
		return nil, fmt.Errorf("list members: %w", err)
	}
	return &memberList{Body: list(rows, "", func(m sql.Member) Member { return Member{User: m.User, Role: m.Role} })}, nil
}

func (s *Server) putMember(ctx context.Context, in *putMember) (*memberAnswer, error) {
	c := callOf(ctx)
	u, err := s.store.User(ctx, in.User)
	if errors.Is(err, sql.ErrNotFound) {
		return nil, wrongField(http.StatusUnprocessableEntity, "user", "not_found", in.User, "there is no user of that name")
	}
	if err != nil {
		return nil, fmt.Errorf("read user: %w", err)
	}
	if err := s.store.PutMember(ctx, sql.Member{ProjectID: c.project.ID, UserID: u.ID, User: u.Name, Role: in.Body.Role}); err != nil {
		return nil, fmt.Errorf("put member: %w", err)
	}
	return &memberAnswer{Body: Member{User: u.Name, Role: in.Body.Role}}, s.rightsChanged(ctx, u.ID)
}

func (s *Server) deleteMember(ctx context.Context, in *MemberPath) (*struct{}, error) {
	u, err := s.store.User(ctx, in.User)
	if err != nil {
		return nil, fmt.Errorf("read user: %w", err)
	}
	if err := s.store.DeleteMember(ctx, callOf(ctx).project.ID, u.ID); err != nil {
		return nil, fmt.Errorf("delete member: %w", err)
	}
	return nil, s.rightsChanged(ctx, u.ID)
}

// rightsChanged ends the sessions of a user whose rights are not what they were.
func (s *Server) rightsChanged(ctx context.Context, userID int64) error {
	defer s.known.forget()
	if err := s.store.DeleteSessions(ctx, userID); err != nil {
		return fmt.Errorf("close the sessions of user %d: %w", userID, err)
	}
	return nil
}
