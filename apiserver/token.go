package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// maxTokenLife is how long a token may live; one without an end would outlive its use.
const maxTokenLife = 366 * 24 * time.Hour

// Token is an API token without its secret.
type Token struct {
	ID        ID     `json:"id"`
	Name      string `json:"name"`
	Role      string `json:"role,omitempty" doc:"The most that it may do; absent: what its user may."`
	Project   string `json:"project,omitempty" doc:"The only project that it may see; absent: all of its user's."`
	CreatedAt Time   `json:"created_at"`
	ExpiresAt Time   `json:"expires_at,omitempty"`
}

type tokenList struct{ Body List[Token] }

// TokenPath names a token in a path.
type TokenPath struct {
	Token string `path:"token" maxLength:"64" doc:"The token's id."`
}

type createToken struct {
	Body struct {
		Name      string `json:"name" minLength:"1" maxLength:"128"`
		Role      string `json:"role,omitempty" enum:"viewer,operator,editor,owner,admin"`
		Project   string `json:"project,omitempty" maxLength:"512"`
		ExpiresAt Time   `json:"expires_at,omitempty" doc:"At most 366 days ahead; absent is 90 days."`
	}
}

type tokenAnswer struct {
	Body struct {
		Token
		Secret string `json:"secret" doc:"Shown this once."`
	}
}

func (s *Server) tokenRoutes() {
	known := access{object: noObject}
	add(s, spec{id: "list-tokens", method: "GET", path: "/tokens", tag: "tokens", summary: "List one's own tokens", access: known}, s.listTokens)
	add(s, spec{id: "create-token", method: "POST", path: "/tokens", tag: "tokens", summary: "Create a token; its secret is shown once", body: jsonBody, status: 201, access: known}, s.createToken)
	add(s, spec{id: "delete-token", method: "DELETE", path: "/tokens/{token}", tag: "tokens", summary: "Revoke one's own token", access: known}, s.deleteToken)
}

func (s *Server) tokenFace(ctx context.Context, t sql.Token) (Token, error) {
	out := Token{ID: ID(t.ID), Name: t.Name, Role: t.Role, CreatedAt: Time(t.CreatedAt), ExpiresAt: Time(t.ExpiresAt)}
	if t.ProjectID == 0 {
		return out, nil
	}
	p, err := s.store.ProjectByID(ctx, t.ProjectID)
	switch {
	case errors.Is(err, sql.ErrNotFound):
		out.Project = "deleted"
	case err != nil:
		return out, fmt.Errorf("read project %d: %w", t.ProjectID, err)
	default:
		out.Project = p.Name
	}
	return out, nil
}

func (s *Server) listTokens(ctx context.Context, in *Paged) (*tokenList, error) {
	return s.tokensOf(ctx, callOf(ctx).who.userID, in.page())
}

func (s *Server) createToken(ctx context.Context, in *createToken) (*tokenAnswer, error) {
	who, now := callOf(ctx).who, s.now()
	t := sql.Token{UserID: who.userID, Name: in.Body.Name, Role: in.Body.Role, CreatedAt: dag.MillisOf(now), ExpiresAt: dag.Millis(in.Body.ExpiresAt)}
	if t.ExpiresAt == 0 {
		t.ExpiresAt = dag.MillisOf(now.Add(90 * 24 * time.Hour))
	}
	if left := t.ExpiresAt.Sub(dag.MillisOf(now)); left <= 0 || left > maxTokenLife {
		return nil, wrongField(http.StatusUnprocessableEntity, "expires_at", "out_of_range", "", "expires_at must be at most 366 days ahead")
	}
	if p := s.scopeToken(ctx, who, in.Body.Project, &t); p != nil {
		return nil, p
	}
	secret := tokenPrefix + newSecret()
	t.Hash = hashSecret(secret)
	made, err := s.store.CreateToken(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("create token: %w", err)
	}
	out := &tokenAnswer{}
	out.Body.Secret = secret
	out.Body.Token, err = s.tokenFace(ctx, made)
	return out, err
}

// scopeToken keeps a token from holding more than the caller does right now: a scoped
// token can't make itself a wider sister.
func (s *Server) scopeToken(ctx context.Context, who *principal, project string, t *sql.Token) *Problem {
	if project != "" {
		p, err := s.store.Project(ctx, project)
		if err == nil && who.role(p.ID) < roleViewer {
			err = sql.ErrNotFound
		}
		if errors.Is(err, sql.ErrNotFound) {
			return wrongField(http.StatusUnprocessableEntity, "project", "not_found", project, "there is no such project, or you may not see it")
		}
		if err != nil {
			return s.problemOf(ctx, err)
		}
		t.ProjectID = p.ID
	}
	if t.ProjectID == 0 {
		t.ProjectID = who.project
	}
	if who.most < roleAdmin {
		if wanted := parseRole(t.Role); wanted == roleNone || wanted > who.most {
			t.Role = who.most.String()
		}
	}
	return nil
}

func (s *Server) deleteToken(ctx context.Context, in *TokenPath) (*struct{}, error) {
	return nil, s.revoke(ctx, callOf(ctx).who.userID, in.Token)
}
