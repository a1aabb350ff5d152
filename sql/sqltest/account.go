package sqltest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

func projectKeepsItsLastOwner(t *testing.T, b *bench) {
	var users [2]sql.User
	for i := range users {
		u, err := b.CreateUser(b.ctx, sql.User{Name: fmt.Sprint("owner ", i)})
		b.must(err)
		b.must(b.PutMember(b.ctx, sql.Member{ProjectID: b.project.ID, UserID: u.ID, Role: sql.RoleOwner}))
		users[i] = u
	}
	stores := []*sql.Store{b.Store, b.open(t, t.Name())}
	var refused atomic.Int32
	race(2, func(i int) {
		var err error
		if i == 0 {
			err = stores[0].DeleteMember(b.ctx, b.project.ID, users[0].ID)
		} else {
			err = stores[1].PutMember(b.ctx, sql.Member{ProjectID: b.project.ID, UserID: users[1].ID, Role: "viewer"})
		}
		switch {
		case errors.Is(err, sql.ErrLastOwner):
			refused.Add(1)
		case err != nil:
			t.Errorf("leave: %v", err)
		}
	})
	if refused.Load() != 1 {
		t.Errorf("%d of two owners who leave at once were refused, want 1", refused.Load())
	}
	members, err := b.Members(b.ctx, b.project.ID)
	b.must(err)
	owners := 0
	for _, m := range members {
		if m.Role == sql.RoleOwner {
			owners++
			b.must(b.PutMember(b.ctx, m)) // to be what one is takes nothing away
		}
	}
	if owners != 1 {
		t.Errorf("%d owners are left, want 1", owners)
	}
}

func setUpIsFinishedOnce(t *testing.T, b *bench) {
	if _, err := b.FirstAdmin(b.ctx); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("first admin of nobody: %v, want ErrNotFound", err)
	}
	other, err := b.CreateUser(b.ctx, sql.User{Name: "aaa"})
	b.must(err)
	first, err := b.CreateUser(b.ctx, sql.User{Name: "admin", PasswordHash: "p0", Admin: true, MustChange: true})
	b.must(err)
	_, err = b.CreateUser(b.ctx, sql.User{Name: "aab", Admin: true})
	b.must(err)
	if got, err := b.FirstAdmin(b.ctx); err != nil || got.ID != first.ID {
		t.Errorf("first admin %+v, %v; want %d", got, err, first.ID)
	}
	b.must(b.CreateSession(b.ctx, sql.Session{Hash: "s", UserID: first.ID, ExpiresAt: 1 << 50}))
	first.Name = other.Name
	if err := b.FinishSetUp(b.ctx, first); !errors.Is(err, sql.ErrExists) {
		t.Errorf("another's name: %v, want ErrExists", err)
	}
	var won, late atomic.Int32
	stores := []*sql.Store{b.Store, b.open(t, t.Name())}
	race(4, func(i int) {
		u := first
		u.Name, u.PasswordHash = fmt.Sprint("root ", i), fmt.Sprint("p", i+1)
		switch err := stores[i%2].FinishSetUp(b.ctx, u); {
		case err == nil:
			won.Add(1)
		case errors.Is(err, sql.ErrStale):
			late.Add(1)
		default:
			t.Errorf("finish: %v", err)
		}
	})
	if won.Load() != 1 || late.Load() != 3 {
		t.Errorf("%d won and %d were late, want 1 and 3", won.Load(), late.Load())
	}
	got, err := b.UserByID(b.ctx, first.ID)
	b.must(err)
	if got.MustChange || got.PasswordHash == "p0" || !got.Admin {
		t.Errorf("after the set-up: %+v", got)
	}
	if _, err := b.Session(b.ctx, "s"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a session outlived the set-up: %v", err)
	}
}

func sessionsAreListedWhileTheyLast(t *testing.T, b *bench) {
	u, err := b.CreateUser(b.ctx, sql.User{Name: "Ann"})
	b.must(err)
	v, err := b.CreateUser(b.ctx, sql.User{Name: "Bob"})
	b.must(err)
	for _, s := range []sql.Session{
		{Hash: "old", UserID: u.ID, CreatedAt: 1, SeenAt: 10, IdleAt: 200, ExpiresAt: 300},
		{Hash: "new", UserID: u.ID, CreatedAt: 1, SeenAt: 20, IdleAt: 200, ExpiresAt: 300, Agent: "x", Address: "::1"},
		{Hash: "idle", UserID: u.ID, CreatedAt: 1, SeenAt: 5, IdleAt: 100, ExpiresAt: 300},
		{Hash: "over", UserID: u.ID, CreatedAt: 1, SeenAt: 5, IdleAt: 200, ExpiresAt: 100},
		{Hash: "his", UserID: v.ID, CreatedAt: 1, SeenAt: 5, IdleAt: 200, ExpiresAt: 300},
	} {
		b.must(b.CreateSession(b.ctx, s))
	}
	got, err := b.Sessions(b.ctx, u.ID, 100)
	b.must(err)
	if len(got) != 2 || got[0].Hash != "new" || got[1].Hash != "old" || got[0].Agent != "x" || got[0].Address != "::1" {
		t.Errorf("sessions %+v", got)
	}
}

func overviewsCountAndCut(t *testing.T, b *bench) {
	empty, err := b.CreateProject(b.ctx, sql.Project{Name: "Empty"})
	b.must(err)
	second, _, _, err := b.SaveVersion(b.ctx, sql.SaveVersion{ProjectID: b.project.ID, Name: "Second", Text: "t", Format: "yaml", By: "bob"})
	b.must(err)
	var ids []int64
	for i := range 5 {
		st := b.wish(func(s *sql.Start) { s.At = dag.Millis(100 + i/2) }) // two of one moment
		id, _, err := b.Start(b.ctx, st)
		b.must(err)
		ids = append(ids, id)
	}
	_, err = b.Claim(b.ctx, []sql.Claim{{Command: sql.Command{ID: ids[4], InstanceID: ids[4]}, Owner: "m"}})
	b.must(err)
	b.must(b.commit(sql.Transition{Instance: &dag.Instance{ID: ids[4], State: dag.InstanceFailed}, Plan: b.plan, Epoch: 1}))

	projects, err := b.ProjectActivities(b.ctx, []int64{b.project.ID, empty.ID}, 101)
	b.must(err)
	if p := projects[b.project.ID]; p.Workflows != 2 || p.Instances[dag.InstanceSubmitted] != 2 || p.Instances[dag.InstanceFailed] != 1 || len(p.Instances) != 2 {
		t.Errorf("activity of the project: %+v", p)
	}
	if p, ok := projects[empty.ID]; !ok || p.Workflows != 0 || len(p.Instances) != 0 {
		t.Errorf("activity of an empty project: %+v, %v", p, ok)
	}
	workflows, err := b.WorkflowActivities(b.ctx, []int64{b.workflow.ID, second.ID}, 3)
	b.must(err)
	first := workflows[b.workflow.ID]
	if len(first.Last) != 3 || first.Last[0].ID != ids[4] || first.Last[0].State != dag.InstanceFailed || first.Last[1].ID != ids[3] || first.Last[2].ID != ids[2] {
		t.Errorf("last instances of %v: %+v", ids, first)
	}
	if w := workflows[second.ID]; w.ChangedBy != "bob" || len(w.Last) != 0 {
		t.Errorf("activity of a workflow that never ran: %+v", w)
	}
	if got, err := b.WorkflowActivities(b.ctx, nil, 3); err != nil || len(got) != 0 {
		t.Errorf("activity of nothing: %+v, %v", got, err)
	}
}
