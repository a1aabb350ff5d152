package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// User is a person, or a machine with an account.
type User struct {
	ID                 ID     `json:"id"`
	Name               string `json:"name"`
	Admin              bool   `json:"admin"`
	Disabled           bool   `json:"disabled"`
	MustChangePassword bool   `json:"must_change_password"`
	CreatedAt          Time   `json:"created_at"`
	UpdatedAt          Time   `json:"updated_at"`
}

// UserPath names a user in a path.
type UserPath struct {
	User string `path:"user" maxLength:"512" doc:"The user's name."`
}

type userList struct{ Body List[User] }

type userAnswer struct{ Body User }

type createUser struct {
	Body struct {
		Name     string `json:"name" maxLength:"512"`
		Password string `json:"password" maxLength:"1024" doc:"12 to 256 characters; to be changed at the first sign-in."`
		Admin    bool   `json:"admin,omitempty"`
	}
}

type changeUser struct {
	UserPath
	Body struct {
		Admin    *bool   `json:"admin,omitempty"`
		Disabled *bool   `json:"disabled,omitempty"`
		Password *string `json:"password,omitempty" maxLength:"1024" doc:"A new first password, 12 to 256 characters; to be changed at the next sign-in. Every session of the user ends."`
	}
}

type changePassword struct {
	Body struct {
		Current string `json:"current" maxLength:"1024"`
		New     string `json:"new" maxLength:"1024" doc:"12 to 256 characters."`
	}
}

func (s *Server) userRoutes() {
	admin := access{need: roleAdmin, object: noObject}
	add(s, spec{id: "list-users", method: "GET", path: "/users", tag: "users", summary: "List the users", access: admin}, s.listUsers)
	add(s, spec{id: "create-user", method: "POST", path: "/users", tag: "users", summary: "Create a user", body: jsonBody, status: 201, access: admin}, s.createUser)
	add(s, spec{id: "change-user", method: "PUT", path: "/users/{user}", tag: "users", summary: "Disable, enable, make or unmake an admin, give a new first password", body: jsonBody, access: admin}, s.changeUser)
	add(s, spec{id: "delete-user", method: "DELETE", path: "/users/{user}", tag: "users", summary: "Delete a user with his tokens and sessions", access: admin}, s.deleteUser)
	add(s, spec{id: "change-password", method: "PUT", path: "/session/password", tag: "session", summary: "Change one's own password; every session ends", early: true, body: jsonBody, access: access{object: noObject}}, s.changePassword)
}

func userFace(u sql.User) User {
	return User{ID: ID(u.ID), Name: u.Name, Admin: u.Admin, Disabled: u.Disabled, MustChangePassword: u.MustChange, CreatedAt: Time(u.CreatedAt), UpdatedAt: Time(u.UpdatedAt)}
}

func (s *Server) listUsers(ctx context.Context, in *Paged) (*userList, error) {
	rows, next, err := s.store.Users(ctx, in.page())
	if err != nil {
		return nil, fmt.Errorf("list users: %w", err)
	}
	return &userList{Body: list(rows, next, userFace)}, nil
}

func (s *Server) createUser(ctx context.Context, in *createUser) (*userAnswer, error) {
	if wrong := dag.CheckName("name", in.Body.Name); len(wrong) > 0 {
		return nil, problem(http.StatusUnprocessableEntity, wrong[0].Message, wrong...)
	}
	if p := checkNewPassword("password", in.Body.Password, in.Body.Name); p != nil {
		return nil, p
	}
	hash, err := s.hashPassword(ctx, in.Body.Password)
	if err != nil {
		return nil, err
	}
	u, err := s.store.CreateUser(ctx, sql.User{Name: in.Body.Name, PasswordHash: hash, Admin: in.Body.Admin, MustChange: true, CreatedAt: s.at(), UpdatedAt: s.at()})
	if errors.Is(err, sql.ErrExists) {
		return nil, userTaken(in.Body.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("create user: %w", err)
	}
	return &userAnswer{Body: userFace(u)}, nil
}

func (s *Server) changeUser(ctx context.Context, in *changeUser) (*userAnswer, error) {
	u, err := s.store.User(ctx, in.User)
	if err != nil {
		return nil, fmt.Errorf("read user: %w", err)
	}
	if u.ID == callOf(ctx).who.userID {
		return nil, notOneself()
	}
	if in.Body.Admin != nil {
		u.Admin = *in.Body.Admin
	}
	if in.Body.Disabled != nil {
		u.Disabled = *in.Body.Disabled
	}
	if in.Body.Password != nil {
		if p := checkNewPassword("password", *in.Body.Password, u.Name); p != nil {
			return nil, p
		}
		if u.PasswordHash, err = s.hashPassword(ctx, *in.Body.Password); err != nil {
			return nil, err
		}
		u.MustChange = true
	}
	u.UpdatedAt = s.at()
	if err := s.store.UpdateUser(ctx, u); err != nil {
		return nil, fmt.Errorf("update user %d: %w", u.ID, err)
	}
	return &userAnswer{Body: userFace(u)}, s.rightsChanged(ctx, u.ID)
}

// notOneself keeps the last admin from locking everybody out, himself first.
func notOneself() *Problem {
	return problem(http.StatusConflict, "nobody can disable, demote or delete himself")
}

func (s *Server) deleteUser(ctx context.Context, in *UserPath) (*struct{}, error) {
	u, err := s.store.User(ctx, in.User)
	if err != nil {
		return nil, fmt.Errorf("read user: %w", err)
	}
	if u.ID == callOf(ctx).who.userID {
		return nil, notOneself()
	}
	if err := s.store.DeleteUser(ctx, u.ID); err != nil {
		return nil, fmt.Errorf("delete user %d: %w", u.ID, err)
	}
	return nil, s.rightsChanged(ctx, u.ID)
}

func (s *Server) changePassword(ctx context.Context, in *changePassword) (*cookieOnly, error) {
	c := callOf(ctx)
	if c.who.session == "" {
		return nil, problem(http.StatusForbidden, "a token can't change a password: sign in")
	}
	name := dag.FoldName(c.who.name)
	if wait := s.throttle.begin(name, c.ip); wait > 0 {
		return nil, tooMany(wait)
	}
	u, err := s.store.UserByID(ctx, c.who.userID)
	if err != nil {
		return nil, fmt.Errorf("read user: %w", err)
	}
	ok, err := s.checkPassword(ctx, u.PasswordHash, in.Body.Current)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, wrongField(http.StatusUnprocessableEntity, "current", "wrong_password", "", "the current password is wrong")
	}
	s.throttle.succeeded(name, c.ip)
	if p := checkNewPassword("new", in.Body.New, u.Name); p != nil {
		return nil, p
	}
	if in.Body.New == in.Body.Current {
		return nil, unchanged("new")
	}
	if u.PasswordHash, err = s.hashPassword(ctx, in.Body.New); err != nil {
		return nil, err
	}
	first := u.MustChange
	u.MustChange, u.UpdatedAt = false, s.at()
	if err := s.store.UpdateUser(ctx, u); err != nil {
		return nil, fmt.Errorf("update user %d: %w", u.ID, err)
	}
	if err := s.rightsChanged(ctx, u.ID); err != nil {
		return nil, err
	}
	if first {
		if err := s.printedIsOver(ctx, u); err != nil {
			return nil, err
		}
	}
	c.who = nil // its session is closed already
	cookie, err := s.openSession(ctx, u.ID)
	if err != nil {
		return nil, err
	}
	return &cookieOnly{SetCookie: cookie}, nil
}
