package sqltest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/porpoise/porpoise/sql"
)

func usersSignInByTheirRows(t *testing.T, b *bench) {
	u, err := b.CreateUser(b.ctx, sql.User{Name: "Ann", PasswordHash: "p1", MustChange: true})
	b.must(err)
	if _, err := b.CreateUser(b.ctx, sql.User{Name: "ANN"}); !errors.Is(err, sql.ErrExists) {
		t.Errorf("the name again: %v, want ErrExists", err)
	}
	got, err := b.User(b.ctx, "aNN")
	b.must(err)
	if got != u {
		t.Errorf("user %+v, want %+v", got, u)
	}
	session := func(hash string) {
		b.must(b.CreateSession(b.ctx, sql.Session{Hash: hash, UserID: u.ID, CreatedAt: 100, IdleAt: 200, ExpiresAt: 1 << 50, Address: "::1", Agent: "x"}))
	}
	session("s1")
	b.must(b.TouchSession(b.ctx, "s1", 150, 250))
	s, err := b.Session(b.ctx, "s1")
	b.must(err)
	if s.SeenAt != 150 || s.IdleAt != 250 || s.ExpiresAt != 1<<50 || s.UserID != u.ID {
		t.Errorf("session %+v", s)
	}
	for i, change := range []func(*sql.User){
		func(u *sql.User) { u.PasswordHash = "p2" },
		func(u *sql.User) { u.Admin = true },
		func(u *sql.User) { u.Disabled = true },
	} {
		change(&u)
		session(fmt.Sprint("c", i))
		b.must(b.UpdateUser(b.ctx, u))
		if _, err := b.Session(b.ctx, fmt.Sprint("c", i)); !errors.Is(err, sql.ErrNotFound) {
			t.Errorf("session after change %d of the user: %v, want ErrNotFound", i, err)
		}
	}
	u.MustChange = false
	session("s2")
	b.must(b.UpdateUser(b.ctx, u))
	if _, err := b.Session(b.ctx, "s2"); err != nil {
		t.Errorf("a harmless change ended the session: %v", err)
	}
	b.must(b.DeleteSession(b.ctx, "s2"))
	b.must(b.DeleteSession(b.ctx, "s2"))
	if err := b.TouchSession(b.ctx, "s2", 1, 2); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("touch a session that has gone: %v, want ErrNotFound", err)
	}
	b.must(b.CreateSession(b.ctx, sql.Session{Hash: "old", UserID: u.ID, CreatedAt: 100, ExpiresAt: 300}))
	b.must(b.CreateSession(b.ctx, sql.Session{Hash: "new", UserID: u.ID, CreatedAt: 400, ExpiresAt: 1 << 50}))
	if _, err := b.Session(b.ctx, "old"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("an expired session stays: %v", err)
	}
	b.must(b.DeleteUser(b.ctx, u.ID))
	if _, err := b.Session(b.ctx, "new"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("session of a deleted user: %v, want ErrNotFound", err)
	}
	if _, err := b.UserByID(b.ctx, u.ID); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("deleted user: %v, want ErrNotFound", err)
	}
}

func secretsOpenOnce(t *testing.T, b *bench) {
	u, err := b.CreateUser(b.ctx, sql.User{Name: "Ann"})
	b.must(err)
	b.must(b.CreateSignInLink(b.ctx, sql.SignInLink{Hash: "l1", UserID: u.ID, CreatedAt: 1, ExpiresAt: 100}))
	b.must(b.CreateSignInLink(b.ctx, sql.SignInLink{Hash: "l2", UserID: u.ID, CreatedAt: 1, ExpiresAt: 100}))
	stores := []*sql.Store{b.Store, b.open(t, t.Name())}
	var mu sync.Mutex
	taken := 0
	race(8, func(i int) {
		l, err := stores[i%2].TakeSignInLink(b.ctx, "l1", 50)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil && l.UserID == u.ID:
			taken++
		case !errors.Is(err, sql.ErrNotFound):
			t.Errorf("take a link: %v", err)
		}
	})
	if taken != 1 {
		t.Errorf("a link was taken %d times", taken)
	}
	if _, err := b.TakeSignInLink(b.ctx, "l2", 100); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("an expired link: %v, want ErrNotFound", err)
	}
	j, err := b.CreateJoinToken(b.ctx, sql.JoinToken{Hash: "j", Role: "worker", Node: "n1", ExpiresAt: 100, UsesLeft: 2})
	b.must(err)
	used := 0
	race(8, func(i int) {
		got, err := stores[i%2].TakeJoinToken(b.ctx, "j", 50)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil && got.ID == j.ID && got.Node == "n1" && got.Role == "worker":
			used++
		case !errors.Is(err, sql.ErrNotFound):
			t.Errorf("take a join token: %v", err)
		}
	})
	if used != 2 {
		t.Errorf("a join token for 2 was used %d times", used)
	}
}

func tokensBelongToTheirUser(t *testing.T, b *bench) {
	ann, err := b.CreateUser(b.ctx, sql.User{Name: "Ann"})
	b.must(err)
	bob, err := b.CreateUser(b.ctx, sql.User{Name: "Bob"})
	b.must(err)
	tok, err := b.CreateToken(b.ctx, sql.Token{UserID: ann.ID, Name: "ci", Hash: "h1", Role: "operator", ProjectID: b.project.ID, ExpiresAt: 9})
	b.must(err)
	if _, err := b.CreateToken(b.ctx, sql.Token{UserID: bob.ID, Name: "ci", Hash: "h1"}); !errors.Is(err, sql.ErrExists) {
		t.Errorf("one hash twice: %v, want ErrExists", err)
	}
	if _, err := b.CreateToken(b.ctx, sql.Token{UserID: bob.ID, Name: "ci"}); err == nil {
		t.Error("a token without a hash was made")
	}
	b.must(b.TouchToken(b.ctx, tok.ID, 5))
	tok.UsedAt = 5
	if got, err := b.TokenByHash(b.ctx, "h1"); err != nil || got != tok {
		t.Errorf("token %+v, %v; want %+v", got, err, tok)
	}
	if err := b.DeleteToken(b.ctx, bob.ID, tok.ID); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("delete another's token: %v, want ErrNotFound", err)
	}
	if list, _, err := b.Tokens(b.ctx, ann.ID, sql.Page{}); err != nil || len(list) != 1 {
		t.Errorf("tokens %+v, %v", list, err)
	}
	b.must(b.DeleteToken(b.ctx, ann.ID, tok.ID))
	if _, err := b.TokenByHash(b.ctx, "h1"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("deleted token: %v, want ErrNotFound", err)
	}
}

func membersHaveOneRole(t *testing.T, b *bench) {
	ann, err := b.CreateUser(b.ctx, sql.User{Name: "Ann"})
	b.must(err)
	m := sql.Member{ProjectID: b.project.ID, UserID: ann.ID, User: "Ann", Role: "viewer"}
	b.must(b.PutMember(b.ctx, m))
	m.Role = "editor"
	b.must(b.PutMember(b.ctx, m))
	for name, read := range map[string]func() ([]sql.Member, error){
		"Members":     func() ([]sql.Member, error) { return b.Members(b.ctx, b.project.ID) },
		"Memberships": func() ([]sql.Member, error) { return b.Memberships(b.ctx, ann.ID) },
	} {
		if got, err := read(); err != nil || len(got) != 1 || got[0] != m {
			t.Errorf("%s = %+v, %v; want %+v", name, got, err, m)
		}
	}
	if list, err := b.MemberProjects(b.ctx, ann.ID); err != nil || len(list) != 1 || list[0].ID != b.project.ID {
		t.Errorf("projects of a member: %+v, %v", list, err)
	}
	if err := b.PutMember(b.ctx, sql.Member{ProjectID: 1 << 40, UserID: ann.ID}); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a role in no project: %v, want ErrNotFound", err)
	}
	b.must(b.DeleteMember(b.ctx, b.project.ID, ann.ID))
	if err := b.DeleteMember(b.ctx, b.project.ID, ann.ID); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("no role to take: %v, want ErrNotFound", err)
	}
}

func auditOnlyGrows(t *testing.T, b *bench) {
	var rows []sql.AuditRow
	for i := range 300 {
		rows = append(rows, sql.AuditRow{CreatedAt: 5, Actor: "ann", Address: "::1", Action: "start", Object: fmt.Sprint("workflow ", i), Outcome: "ok", Detail: "{}"})
	}
	b.must(b.AddAudit(b.ctx, rows))
	n, last := 0, int64(1<<62)
	for page := (sql.Page{Limit: 200}); ; {
		list, next, err := b.Audit(b.ctx, sql.AuditFilter{}, page)
		b.must(err)
		for _, r := range list {
			if n++; r.ID >= last || r.Actor != "ann" || r.Outcome != "ok" {
				t.Fatalf("row %+v after %d", r, last)
			}
			last = r.ID
		}
		if page.Cursor = next; next == "" {
			break
		}
	}
	if n != len(rows) {
		t.Errorf("%d of %d rows listed", n, len(rows))
	}
}

// auditIsSifted looks for rare rows behind more than one step.
func auditIsSifted(t *testing.T, b *bench) {
	rows := []sql.AuditRow{{CreatedAt: 5, Actor: "eve", Action: "delete-workflow", Object: "project=a workflow=b", Outcome: "refused"}}
	for range 450 {
		rows = append(rows, sql.AuditRow{CreatedAt: 9, Actor: "ann", Action: "start-workflow", Object: "project=a", Outcome: "done"})
	}
	b.must(b.AddAudit(b.ctx, rows))
	for name, c := range map[string]struct {
		f    sql.AuditFilter
		want int
	}{
		"actor":      {sql.AuditFilter{Actor: "eve"}, 1},
		"action":     {sql.AuditFilter{Action: "start-workflow"}, 450},
		"outcome":    {sql.AuditFilter{Outcome: "refused"}, 1},
		"object":     {sql.AuditFilter{Object: "workflow=b"}, 1},
		"before":     {sql.AuditFilter{Before: 9}, 1},
		"after":      {sql.AuditFilter{After: 6}, 450},
		"two of all": {sql.AuditFilter{Actor: "eve", Outcome: "done"}, 0},
	} {
		n := 0
		for page := (sql.Page{Limit: 7}); ; {
			list, next, err := b.Audit(b.ctx, c.f, page)
			b.must(err)
			n += len(list)
			if page.Cursor = next; next == "" {
				break
			}
		}
		if n != c.want {
			t.Errorf("%s: %d rows, want %d", name, n, c.want)
		}
	}
}

func authorityIsMadeOnce(t *testing.T, b *bench) {
	stores := []*sql.Store{b.Store, b.open(t, t.Name())}
	var certificates, keys [6][]byte
	race(len(keys), func(i int) {
		var err error
		certificates[i], keys[i], err = stores[i%2].CertificateAuthority(b.ctx, func() ([]byte, []byte, error) {
			return []byte{0, 0xff, byte(i)}, []byte{byte(i)}, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	for i := range keys {
		if !bytes.Equal(keys[i], keys[0]) || !bytes.Equal(certificates[i], certificates[0]) || len(keys[i]) != 1 || certificates[i][2] != keys[i][0] {
			t.Errorf("caller %d got authority %v %v, caller 0 %v %v", i, certificates[i], keys[i], certificates[0], keys[0])
		}
	}
}
