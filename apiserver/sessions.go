package apiserver

import (
	"context"

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
	return s.sessionsOf(ctx, callOf(ctx).who.userID)
}

func sessionID(v sql.Session) string { return v.Hash[:min(len(v.Hash), sessionIDLength)] }

func (s *Server) endSession(ctx context.Context, in *SessionPath) (*struct{}, error) {
	return nil, s.closeSession(ctx, callOf(ctx).who.userID, in.Session)
}
