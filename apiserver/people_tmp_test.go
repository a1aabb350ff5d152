package apiserver

import (
	"context"
	"sync"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

type tmpStore struct {
	*sql.Store
	mu       sync.Mutex
	users    []sql.User
	tokens   []sql.Token
	sessions map[string]sql.Session
	links    map[string]sql.SignInLink
	members  []sql.Member
	audit    []sql.AuditRow
	drafts   map[int64]sql.Draft
	layouts  map[int64]sql.Layout
}

func newTmp(s *sql.Store) *tmpStore {
	return &tmpStore{Store: s, sessions: map[string]sql.Session{}, links: map[string]sql.SignInLink{}, drafts: map[int64]sql.Draft{}, layouts: map[int64]sql.Layout{}}
}

func (s *tmpStore) CreateUser(ctx context.Context, u sql.User) (sql.User, error) {
	for _, o := range s.users {
		if o.Name == u.Name {
			return u, sql.ErrExists
		}
	}
	u.ID, _ = s.NextIDs(ctx, 1)
	s.users = append(s.users, u)
	return u, nil
}
func (s *tmpStore) User(ctx context.Context, n string) (sql.User, error) {
	for _, o := range s.users {
		if o.Name == n {
			return o, nil
		}
	}
	return sql.User{}, sql.ErrNotFound
}
func (s *tmpStore) UserByID(ctx context.Context, n int64) (sql.User, error) {
	for _, o := range s.users {
		if o.ID == n {
			return o, nil
		}
	}
	return sql.User{}, sql.ErrNotFound
}
func (s *tmpStore) Users(ctx context.Context, p sql.Page) ([]sql.User, string, error) { return s.users, "", nil }
func (s *tmpStore) UpdateUser(ctx context.Context, u sql.User) error {
	for i, o := range s.users {
		if o.ID == u.ID {
			s.users[i] = u
			return nil
		}
	}
	return sql.ErrNotFound
}
func (s *tmpStore) DeleteUser(ctx context.Context, id int64) error {
	for i, o := range s.users {
		if o.ID == id {
			s.users = append(s.users[:i:i], s.users[i+1:]...)
			return nil
		}
	}
	return sql.ErrNotFound
}
func (s *tmpStore) CreateToken(ctx context.Context, t sql.Token) (sql.Token, error) {
	t.ID, _ = s.NextIDs(ctx, 1)
	s.tokens = append(s.tokens, t)
	return t, nil
}
func (s *tmpStore) TokenByHash(ctx context.Context, h string) (sql.Token, error) {
	for _, o := range s.tokens {
		if o.Hash == h {
			return o, nil
		}
	}
	return sql.Token{}, sql.ErrNotFound
}
func (s *tmpStore) Tokens(ctx context.Context, u int64, p sql.Page) (out []sql.Token, n string, e error) {
	for _, o := range s.tokens {
		if o.UserID == u {
			out = append(out, o)
		}
	}
	return
}
func (s *tmpStore) DeleteToken(ctx context.Context, u, id int64) error {
	for i, o := range s.tokens {
		if o.ID == id && o.UserID == u {
			s.tokens = append(s.tokens[:i:i], s.tokens[i+1:]...)
			return nil
		}
	}
	return sql.ErrNotFound
}
func (s *tmpStore) CreateSession(ctx context.Context, v sql.Session) error {
	s.sessions[v.Hash] = v
	return nil
}
func (s *tmpStore) Session(ctx context.Context, h string) (sql.Session, error) {
	v, ok := s.sessions[h]
	if !ok {
		return v, sql.ErrNotFound
	}
	return v, nil
}
func (s *tmpStore) TouchSession(ctx context.Context, h string, a, b dag.Millis) error {
	v := s.sessions[h]
	v.SeenAt, v.IdleAt = a, b
	s.sessions[h] = v
	return nil
}
func (s *tmpStore) DeleteSession(ctx context.Context, h string) error { delete(s.sessions, h); return nil }
func (s *tmpStore) DeleteSessions(ctx context.Context, u int64) error {
	for h, v := range s.sessions {
		if v.UserID == u {
			delete(s.sessions, h)
		}
	}
	return nil
}
func (s *tmpStore) CreateSignInLink(ctx context.Context, l sql.SignInLink) error {
	s.links[l.Hash] = l
	return nil
}
func (s *tmpStore) TakeSignInLink(ctx context.Context, h string, now dag.Millis) (sql.SignInLink, error) {
	v, ok := s.links[h]
	delete(s.links, h)
	if !ok || v.ExpiresAt <= now {
		return v, sql.ErrNotFound
	}
	return v, nil
}
func (s *tmpStore) Members(ctx context.Context, p int64) (out []sql.Member, e error) {
	for _, m := range s.members {
		if m.ProjectID == p {
			out = append(out, m)
		}
	}
	return
}
func (s *tmpStore) Memberships(ctx context.Context, p int64) (out []sql.Member, e error) {
	for _, m := range s.members {
		if m.UserID == p {
			out = append(out, m)
		}
	}
	return
}
func (s *tmpStore) PutMember(ctx context.Context, m sql.Member) error {
	_ = s.DeleteMember(ctx, m.ProjectID, m.UserID)
	s.members = append(s.members, m)
	return nil
}
func (s *tmpStore) DeleteMember(ctx context.Context, p, u int64) error {
	for i, o := range s.members {
		if o.ProjectID == p && o.UserID == u {
			s.members = append(s.members[:i:i], s.members[i+1:]...)
			return nil
		}
	}
	return sql.ErrNotFound
}
func (s *tmpStore) AddAudit(ctx context.Context, rows []sql.AuditRow) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.audit = append(s.audit, rows...)
	return nil
}
func (s *tmpStore) CreateJoinToken(ctx context.Context, t sql.JoinToken) (sql.JoinToken, error) {
	t.ID, _ = s.NextIDs(ctx, 1)
	return t, nil
}
func (s *tmpStore) Draft(ctx context.Context, w int64) (sql.Draft, error) {
	d, ok := s.drafts[w]
	if !ok {
		return d, sql.ErrNotFound
	}
	return d, nil
}
func (s *tmpStore) PutDraft(ctx context.Context, d sql.Draft) error { s.drafts[d.WorkflowID] = d; return nil }
func (s *tmpStore) DeleteDraft(ctx context.Context, w int64) error  { delete(s.drafts, w); return nil }
func (s *tmpStore) Layout(ctx context.Context, w int64) (sql.Layout, error) {
	d, ok := s.layouts[w]
	if !ok {
		return d, sql.ErrNotFound
	}
	return d, nil
}
func (s *tmpStore) PutLayout(ctx context.Context, d sql.Layout) error {
	s.layouts[d.WorkflowID] = d
	return nil
}
