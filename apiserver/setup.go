package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

type setUp struct {
	Body struct {
		Name     string `json:"name" maxLength:"512" doc:"What the admin is called from now on."`
		Password string `json:"password" maxLength:"1024" doc:"12 to 256 characters."`
	}
}

func (s *Server) setUpRoutes() {
	add(s, spec{
		id: "set-up", method: "POST", path: "/setup", tag: "session", summary: "Give the first admin a name and a password, once; every other session ends",
		early: true, body: jsonBody, access: access{object: noObject},
	}, s.setUp)
}

// setUp ends the first start. Who has come by the printed link knows no password, so none is
// asked for: the link was the proof, and until this is done its session can do nothing else.
func (s *Server) setUp(ctx context.Context, in *setUp) (*signedIn, error) {
	c := callOf(ctx)
	if c.who.session == "" {
		return nil, problem(http.StatusForbidden, "a token can't do this: sign in")
	}
	u, err := s.store.UserByID(ctx, c.who.userID)
	if err != nil {
		return nil, fmt.Errorf("read user: %w", err)
	}
	first, err := s.isFirstAdmin(ctx, u.ID)
	if err != nil {
		return nil, err
	}
	if !first || !u.MustChange {
		return nil, setUpAlready()
	}
	if p := s.checkSetUp(ctx, in, u); p != nil {
		return nil, p
	}
	u.Name = in.Body.Name
	if u.PasswordHash, err = s.hashPassword(ctx, in.Body.Password); err != nil {
		return nil, err
	}
	switch err := s.store.FinishSetUp(ctx, u); {
	case errors.Is(err, sql.ErrExists):
		return nil, userTaken(u.Name)
	case errors.Is(err, sql.ErrStale):
		return nil, setUpAlready()
	case err != nil:
		return nil, fmt.Errorf("finish the set-up: %w", err)
	}
	s.known.forget()
	if err := s.printedIsOver(ctx, u); err != nil {
		return nil, err
	}
	c.who = nil // its session is closed already
	return s.welcome(ctx, u.ID)
}

// checkSetUp lists everything that is wrong with the wish at once.
func (s *Server) checkSetUp(ctx context.Context, in *setUp, u sql.User) *Problem {
	wrong := dag.CheckName("name", in.Body.Name)
	if p := checkNewPassword("password", in.Body.Password, in.Body.Name); p != nil {
		wrong = append(wrong, p.Errors...)
	} else if same, err := s.checkPassword(ctx, u.PasswordHash, in.Body.Password); err != nil {
		return s.problemOf(ctx, err)
	} else if same {
		wrong = append(wrong, unchanged("password").Errors...)
	}
	if len(wrong) == 0 {
		return nil
	}
	return problem(http.StatusUnprocessableEntity, wrong[0].Message, wrong...)
}

// welcome opens a session and says whose it is.
func (s *Server) welcome(ctx context.Context, userID int64) (*signedIn, error) {
	cookie, err := s.openSession(ctx, userID)
	if err != nil {
		return nil, err
	}
	who, err := s.known.person(ctx, userID)
	if err != nil {
		return nil, err
	}
	callOf(ctx).who = who
	me, err := s.me(ctx, who)
	if err != nil {
		return nil, err
	}
	return &signedIn{SetCookie: cookie, Body: me}, nil
}

// isFirstAdmin tells whether the user is the one whom Bootstrap made.
func (s *Server) isFirstAdmin(ctx context.Context, userID int64) (bool, error) {
	first, err := s.store.FirstAdmin(ctx)
	if errors.Is(err, sql.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return first.ID == userID, nil
}

// printedIsOver tells cmd that the first admin's printed password is of no use any more.
func (s *Server) printedIsOver(ctx context.Context, u sql.User) error {
	if s.cfg.SetUp == nil || !u.Admin {
		return nil
	}
	first, err := s.isFirstAdmin(ctx, u.ID)
	if first {
		s.cfg.SetUp()
	}
	return err
}

func setUpAlready() *Problem {
	return wrongField(http.StatusConflict, "password", "set_up_already", "", "the set-up is done already: sign in")
}

func userTaken(name string) *Problem {
	return wrongField(http.StatusConflict, "name", "name_taken", name, "there is a user of that name")
}

// unchanged refuses a new password that is the old one.
func unchanged(field string) *Problem {
	return wrongField(http.StatusUnprocessableEntity, field, "unchanged", "", "choose another password than the one you have")
}
