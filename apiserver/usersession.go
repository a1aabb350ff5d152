package apiserver

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/sql"
)

// What an admin sees of another user's ways in, and ends: tokens and sessions. Who ended which stands in the audit.

type userTokens struct {
	UserPath
	Paged
}

type userToken struct {
	UserPath
	TokenPath
}

type userSession struct {
	UserPath
	SessionPath
}

func (s *Server) userSessionRoutes() {
	admin := access{need: roleAdmin, object: noObject}
	const tokens, sessions = "/users/{user}/tokens", "/users/{user}/sessions"
	add(s, spec{id: "list-user-tokens", method: "GET", path: tokens, tag: "users", summary: "List a user's tokens", access: admin}, s.listUserTokens)
	add(s, spec{id: "delete-user-token", method: "DELETE", path: tokens + "/{token}", tag: "users", summary: "Revoke a user's token", access: admin}, s.deleteUserToken)
	add(s, spec{id: "list-user-sessions", method: "GET", path: sessions, tag: "users", summary: "List a user's sessions", access: admin}, s.listUserSessions)
	add(s, spec{id: "end-user-session", method: "DELETE", path: sessions + "/{session}", tag: "users", summary: "End a user's session", access: admin}, s.endUserSession)
}

func (s *Server) userID(ctx context.Context, name string) (int64, error) {
	u, err := s.store.User(ctx, name)
	if err != nil {
		return 0, fmt.Errorf("read user: %w", err)
	}
	return u.ID, nil
}

func (s *Server) listUserTokens(ctx context.Context, in *userTokens) (*tokenList, error) {
	id, err := s.userID(ctx, in.User)
	if err != nil {
		return nil, err
	}
	return s.tokensOf(ctx, id, in.page())
}

func (s *Server) deleteUserToken(ctx context.Context, in *userToken) (*struct{}, error) {
	id, err := s.userID(ctx, in.User)
	if err != nil {
		return nil, err
	}
	return nil, s.revoke(ctx, id, in.Token)
}

func (s *Server) listUserSessions(ctx context.Context, in *UserPath) (*sessionList, error) {
	id, err := s.userID(ctx, in.User)
	if err != nil {
		return nil, err
	}
	return s.sessionsOf(ctx, id)
}

func (s *Server) endUserSession(ctx context.Context, in *userSession) (*struct{}, error) {
	id, err := s.userID(ctx, in.User)
	if err != nil {
		return nil, err
	}
	return nil, s.closeSession(ctx, id, in.Session)
}

// tokensOf lists the tokens of a user, revoke deletes one.
func (s *Server) tokensOf(ctx context.Context, user int64, page sql.Page) (*tokenList, error) {
	rows, next, err := s.store.Tokens(ctx, user, page)
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	out := List[Token]{Items: make([]Token, len(rows)), NextCursor: next}
	for i, t := range rows {
		if out.Items[i], err = s.tokenFace(ctx, t); err != nil {
			return nil, err
		}
	}
	return &tokenList{Body: out}, nil
}

func (s *Server) revoke(ctx context.Context, user int64, token string) error {
	id, ok := parseID(token)
	if !ok {
		return badID("token", token)
	}
	if err := s.store.DeleteToken(ctx, user, id); err != nil {
		return fmt.Errorf("delete token %d: %w", id, err)
	}
	s.known.forget()
	return nil
}

// sessionsOf lists the sessions of a user, closeSession ends one.
func (s *Server) sessionsOf(ctx context.Context, user int64) (*sessionList, error) {
	own := callOf(ctx).who.session
	rows, err := s.store.Sessions(ctx, user, s.at())
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return &sessionList{Body: list(rows, "", func(v sql.Session) Session {
		return Session{
			ID: sessionID(v), Current: v.Hash == own, Address: v.Address, Agent: v.Agent,
			CreatedAt: Time(v.CreatedAt), SeenAt: Time(v.SeenAt), ExpiresAt: Time(v.ExpiresAt),
		}
	})}, nil
}

func (s *Server) closeSession(ctx context.Context, user int64, session string) error {
	rows, err := s.store.Sessions(ctx, user, s.at())
	if err != nil {
		return fmt.Errorf("list sessions: %w", err)
	}
	for _, v := range rows {
		if sessionID(v) != session {
			continue
		}
		if err := s.store.DeleteSession(ctx, v.Hash); err != nil {
			return fmt.Errorf("end a session: %w", err)
		}
		s.known.forget()
		return nil
	}
	return notFound()
}
