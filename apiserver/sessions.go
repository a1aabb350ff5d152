package apiserver

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/sql"
)

// sessionIDLength is how much of a session's hash names it: enough for one user's few, and
// nothing that opens it.
const sessionIDLength = 16

// Session is a signed-in browser of the caller's.
type Session struct {
	ID        string `json:"id"`
	Current   bool   `json:"current" doc:"It is the one that asks."`
	Address   string `json:"address"`
	Agent     string `json:"agent" doc:"What the browser calls itself."`
	CreatedAt Time   `json:"created_at"`
	SeenAt    Time   `json:"seen_at" doc:"Its last use, to the minute."`
	ExpiresAt Time   `json:"expires_at" doc:"When it ends in any case."`
}

type sessionList struct{ Body List[Session] }

// SessionPath names a session in a path.
type SessionPath struct {
	Session string `path:"session" maxLength:"64" doc:"The session's id."`
}

func (s *Server) sessionListRoutes() {
	known := access{object: noObject}
	add(s, spec{id: "list-sessions", method: "GET", path: "/sessions", tag: "session", summary: "List one's own sessions", access: known}, s.listSessions)
	add(s, spec{id: "end-session", method: "DELETE", path: "/sessions/{session}", tag: "session", summary: "End one of one's own sessions", access: known}, s.endSession)
}

func (s *Server) listSessions(ctx context.Context, _ *struct{}) (*sessionList, error) {
	who := callOf(ctx).who
	rows, err := s.store.Sessions(ctx, who.userID, s.at())
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return &sessionList{Body: list(rows, "", func(v sql.Session) Session {
		return Session{
			ID: sessionID(v), Current: v.Hash == who.session, Address: v.Address, Agent: v.Agent,
			CreatedAt: Time(v.CreatedAt), SeenAt: Time(v.SeenAt), ExpiresAt: Time(v.ExpiresAt),
		}
	})}, nil
}

func sessionID(v sql.Session) string { return v.Hash[:min(len(v.Hash), sessionIDLength)] }

func (s *Server) endSession(ctx context.Context, in *SessionPath) (*struct{}, error) {
	rows, err := s.store.Sessions(ctx, callOf(ctx).who.userID, s.at())
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	for _, v := range rows {
		if sessionID(v) != in.Session {
			continue
		}
		if err := s.store.DeleteSession(ctx, v.Hash); err != nil {
			return nil, fmt.Errorf("end a session: %w", err)
		}
		s.known.forget()
		return nil, nil
	}
	return nil, notFound()
}
