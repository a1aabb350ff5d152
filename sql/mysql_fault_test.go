package sql_test

import (
	"bytes"
	"context"
	stdsql "database/sql"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// proxy stands between a store and its server, and can fail in chosen ways.
type proxy struct {
	listener net.Listener
	server   string
	down     atomic.Bool  // refuses and cuts everything
	cutAt    atomic.Value // string: cut after, or before, a statement of this text; "" for never
	before   atomic.Bool  // the statement that cuts is not passed on
	cuts     atomic.Int32
	passed   chan struct{}          // hears of each statement that cut, and was passed on and done
	trips    atomic.Int32           // packets from the store, each of which waits for its answer
	late     atomic.Pointer[func()] // what the statement that cuts waits for on its way to the server

	mu    sync.Mutex
	conns map[net.Conn]bool
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, server: server, conns: map[net.Conn]bool{}, passed: make(chan struct{}, 100)}
	p.cutAt.Store("")
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.cut()
		wg.Wait()
	})
	return p
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *proxy) keep(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[c] = true
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	p.keep(client)
	if p.down.Load() {
		return
	}
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	p.keep(server)
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = io.Copy(client, server)
		_ = client.Close()
		_, _ = io.Copy(io.Discard, server)
	}()
	buf := make([]byte, 1<<16)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		p.trips.Add(1)
		// COMMIT is the last statement of its packet, alone or not.
		if at := p.cutAt.Load().(string); at != "" && bytes.HasSuffix(buf[:n], []byte(at)) {
			p.cutAt.Store("")
			p.cuts.Add(1)
			_ = client.Close() // the answer finds nobody
			if late := p.late.Load(); late != nil {
				(*late)()
			}
			if !p.before.Load() {
				_, _ = server.Write(buf[:n])
				_ = server.(*net.TCPConn).CloseWrite()
				<-over // the server has done it, and has found nobody
				p.passed <- struct{}{}
			}
			return
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// faultyStore is a store behind a proxy, with one claimed instance in it.
func faultyStore(t *testing.T) (*proxy, *sql.Store, *dag.Instance) {
	t.Helper()
	return proxiedStore(t, newMySQL(t, t.Name()))
}

func proxiedStore(t *testing.T, dsn string) (*proxy, *sql.Store, *dag.Instance) {
	t.Helper()
	cfg, err := mysql.ParseDSN(strings.TrimPrefix(dsn, "mysql:"))
	if err != nil {
		t.Fatal(err)
	}
	p := newProxy(t, cfg.Addr)
	cfg.Addr = p.listener.Addr().String()
	s := openStore(t, sql.Config{DSN: "mysql:" + cfg.FormatDSN()})
	return p, s, claimedOne(t, s)
}

func claimedOne(t *testing.T, s *sql.Store) *dag.Instance {
	t.Helper()
	ctx := context.Background()
	w, _, _, err := s.SaveVersion(ctx, sql.SaveVersion{ProjectID: project(t, s), Name: "w", Text: "t", Format: "yaml", IfMatch: new(sql.AnyVersion)})
	if err != nil {
		t.Fatal(err)
	}
	id, _, err := s.Start(ctx, sql.Start{WorkflowID: w.ID, ProjectID: w.ProjectID, Version: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Claim(ctx, []sql.Claim{{Command: sql.Command{ID: id, InstanceID: id}, Owner: "m:1"}}); err != nil || len(got) != 1 {
		t.Fatalf("claimed %d: %v", len(got), err)
	}
	return &dag.Instance{ID: id, State: dag.InstanceRunning, Round: 1, Tasks: make([]dag.TaskInstance, 1)}
}

func project(t *testing.T, s *sql.Store) int64 {
	t.Helper()
	p, err := s.Project(context.Background(), "p")
	if errors.Is(err, sql.ErrNotFound) {
		p, err = s.CreateProject(context.Background(), sql.Project{Name: "p"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return p.ID
}

func commit(s *sql.Store, in *dag.Instance) error {
	return s.Commit(context.Background(), []sql.Transition{benchStep(in)})[0]
}

func TestACommitWhoseAnswerIsLostIsLookedUp(t *testing.T) {
	t.Parallel()
	p, s, in := faultyStore(t)
	row, err := s.Instance(t.Context(), in.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range []bool{false, true} {
		p.before.Store(before)
		p.cutAt.Store("COMMIT")
		cuts := p.cuts.Load()
		if err := commit(s, in); err != nil {
			t.Errorf("cut before the server %v: %v", before, err)
		}
		if p.cuts.Load() != cuts+1 {
			t.Fatal("the proxy did not cut")
		}
		events, err := s.Events(t.Context(), in.ID, 0, 0)
		if err != nil || int64(len(events)) != in.Seq {
			t.Errorf("cut before the server %v: %d events, %v; want %d", before, len(events), err, in.Seq)
		}
		p.cutAt.Store("COMMIT")
		id, existed, err := s.Start(t.Context(), sql.Start{
			WorkflowID: row.WorkflowID, ProjectID: row.ProjectID, Version: 1, ScheduleTime: dag.Millis(cuts + 1), TriggerKey: "s1",
		})
		if err != nil || existed {
			t.Errorf("start cut before the server %v: %d, existed %v, %v", before, id, existed, err)
		}
		p.cutAt.Store("COMMIT")
		if _, err := s.AddControl(t.Context(), sql.ControlRow{InstanceID: in.ID, Verb: dag.VerbPause}); err != nil {
			t.Errorf("control cut before the server %v: %v", before, err)
		}
		p.cutAt.Store("COMMIT")
		if got, err := s.Claim(t.Context(), []sql.Claim{{Command: sql.Command{ID: id, InstanceID: id}, Owner: "m:1"}}); err != nil || len(got) != 1 {
			t.Errorf("claim cut before the server %v: %d won, %v", before, len(got), err)
		}
	}
	if rows, err := s.Controls(t.Context(), in.ID); err != nil || len(rows) != 2 {
		t.Errorf("%d controls, %v; want 2", len(rows), err)
	}
}

// follow commits a step that knows what the last one has left, and returns what it leaves itself.
func follow(t *testing.T, s *sql.Store, in *dag.Instance, seen *sql.Seen) *sql.Seen {
	t.Helper()
	step := benchStep(in)
	step.Seen = seen
	list := []sql.Transition{step}
	if err := s.Commit(t.Context(), list)[0]; err != nil {
		t.Errorf("commit: %v", err)
	}
	return list[0].Seen
}

func TestALoneCommitTakesFewTrips(t *testing.T) {
	t.Parallel()
	p, s, in := faultyStore(t)
	follow(t, s, in, nil) // the first one connects
	var seen *sql.Seen
	for _, c := range []struct {
		what  string
		trips int32
	}{{"one that locks and one that writes", 2}, {"one, since its owner has written the row last", 1}, {"one again", 1}} {
		before := p.trips.Load()
		seen = follow(t, s, in, seen)
		if n := p.trips.Load() - before; n != c.trips {
			t.Errorf("%d trips, want %s", n, c.what)
		}
	}
}

// A server that gets a commit when its client has long given it up finds that the row is another than that commit has seen.
func TestACommitThatNobodyWaitsForAnyMoreIsRefused(t *testing.T) {
	t.Parallel()
	p, s, in := faultyStore(t)
	for _, first := range []bool{true, false} {
		seen := follow(t, s, in, nil)
		again := make(chan struct{})
		hold := func() {
			if !first {
				<-again
			}
		}
		p.late.Store(&hold)
		p.cutAt.Store("COMMIT")
		lost := benchStep(in)
		lost.Seen, lost.Effects.Events = seen, nil // no event of its own stands against it
		in.Seq--
		list := []sql.Transition{lost}
		if err := s.Commit(t.Context(), list)[0]; err != nil {
			t.Errorf("commit again: %v", err)
		}
		p.late.Store(nil)
		seen = list[0].Seen
		for range 3 {
			seen = follow(t, s, in, seen)
		}
		close(again)
		<-p.passed
		events, err := s.Events(t.Context(), in.ID, 0, 0)
		if err != nil || int64(len(events)) != in.Seq {
			t.Errorf("the lost one comes first %v: %d events, %v; want %d", first, len(events), err, in.Seq)
		}
		if row, err := s.Instance(t.Context(), in.ID); err != nil || row.Seq != in.Seq {
			t.Errorf("the lost one comes first %v: row at %d, %v; want %d", first, row.Seq, err, in.Seq)
		}
	}
}

func TestACommitAsksWhereItsRowIsNotAsItWasSeen(t *testing.T) {
	t.Parallel()
	dsn := newMySQL(t, t.Name())
	p, s, in := proxiedStore(t, dsn)
	db, err := stdsql.Open("mysql", strings.TrimPrefix(dsn, "mysql:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	change := func(set string) {
		if _, err := db.ExecContext(t.Context(), "UPDATE workflow_instance SET "+set); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		set, back string
		lost      bool
	}{
		{set: "write_id = write_id + 1"},
		{set: "listened = 1", back: "listened = 0"},
		{set: "seq = seq + 1", back: "seq = seq - 1"},
		{set: "owner_epoch = owner_epoch + 1", back: "owner_epoch = owner_epoch - 1", lost: true},
		{set: "owner = ''", back: "owner = 'm:1'", lost: true},
	} {
		seen := follow(t, s, in, nil)
		step := benchStep(in)
		step.Seen = seen
		change(c.set)
		before := p.trips.Load()
		err := s.Commit(t.Context(), []sql.Transition{step})[0]
		if c.lost != errors.Is(err, sql.ErrNotOwner) || !c.lost && err != nil {
			t.Errorf("after %s: %v, lost %v", c.set, err, c.lost)
		}
		if p.trips.Load() == before+1 {
			t.Errorf("after %s it asked nothing", c.set)
		}
		if c.back != "" {
			change(c.back)
		}
	}
}

// Who claims one command locks no other: starts and claims would wait for each other's disk.
func TestAClaimLeavesTheQueueOpen(t *testing.T) {
	t.Parallel()
	dsn := newMySQL(t, t.Name())
	p, s, in := proxiedStore(t, dsn)
	row, err := s.Instance(t.Context(), in.ID)
	if err != nil {
		t.Fatal(err)
	}
	start := sql.Start{WorkflowID: row.WorkflowID, ProjectID: row.ProjectID, Version: 1}
	var claims []sql.Claim
	for range 40 { // of a few rows out of many, any server takes the index
		id, _, err := s.Start(t.Context(), start)
		if err != nil {
			t.Fatal(err)
		}
		claims = append(claims, sql.Claim{Command: sql.Command{ID: id, InstanceID: id}, Owner: "m:1"})
	}
	claims = claims[:30]
	started := make(chan error, 1)
	other := openStore(t, sql.Config{DSN: dsn})
	hold := func() {
		// The claim's locks are taken, and its COMMIT waits here.
		_, _, err := other.Start(context.Background(), start)
		started <- err
	}
	p.late.Store(&hold)
	p.cutAt.Store("COMMIT")
	if got, err := s.Claim(t.Context(), claims); err != nil || len(got) != len(claims) {
		t.Errorf("claimed %d: %v", len(got), err)
	}
	if err := <-started; err != nil {
		t.Errorf("a start beside a claim: %v", err)
	}
}

// The server may begin a commit long after its client has given the connection up. Who looks
// it up must then wait, or would write everything again.
func TestACommitThatIsStillUnderWayIsWaitedFor(t *testing.T) {
	t.Parallel()
	dsn := newMySQL(t, t.Name())
	p, s, in := proxiedStore(t, dsn)
	row, err := s.Instance(t.Context(), in.ID)
	if err != nil {
		t.Fatal(err)
	}
	db, err := stdsql.Open("mysql", strings.TrimPrefix(dsn, "mysql:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	waits := func() { waitForLock(t, db, cfgName(t, dsn)) }
	p.late.Store(&waits)
	for name, write := range map[string]func() error{
		"commit": func() error { return commit(s, in) },
		"control": func() error {
			_, err := s.AddControl(t.Context(), sql.ControlRow{InstanceID: in.ID, Verb: dag.VerbPause})
			return err
		},
		"start": func() error {
			_, _, err := s.Start(t.Context(), sql.Start{WorkflowID: row.WorkflowID, ProjectID: row.ProjectID, Version: 1})
			return err
		},
	} {
		cuts := p.cuts.Load()
		p.cutAt.Store("COMMIT")
		if err := write(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if p.cuts.Load() != cuts+1 {
			t.Fatalf("%s: the proxy did not cut", name)
		}
	}
	if rows, err := s.Controls(t.Context(), in.ID); err != nil || len(rows) != 1 {
		t.Errorf("%d controls, %v; want 1", len(rows), err)
	}
	if events, err := s.Events(t.Context(), in.ID, 0, 0); err != nil || int64(len(events)) != in.Seq {
		t.Errorf("%d events, %v; want %d", len(events), err, in.Seq)
	}
	if rows, _, err := s.Instances(t.Context(), sql.InstanceFilter{}, sql.Page{}); err != nil || len(rows) != 2 {
		t.Errorf("%d instances, %v; want 2", len(rows), err)
	}
}

func TestAServerThatIsGoneIsUnavailable(t *testing.T) {
	t.Parallel()
	p, s, in := faultyStore(t)
	p.down.Store(true)
	p.cut()
	ctx := t.Context()
	one := benchStep(in)
	start := time.Now()
	for name, err := range map[string]error{
		"ping":     s.Ping(ctx),
		"commit":   s.Commit(ctx, []sql.Transition{one})[0],
		"read":     func() error { _, err := s.Instance(ctx, in.ID); return err }(),
		"list":     func() error { _, _, err := s.Projects(ctx, sql.Page{}); return err }(),
		"create":   func() error { _, err := s.CreateProject(ctx, sql.Project{Name: "x"}); return err }(),
		"takeover": func() error { _, err := s.TakeOver(ctx, "a", "b", 1); return err }(),
		"commands": func() error { _, _, err := s.Commands(ctx, nil, 1, sql.CommandCursor{}); return err }(),
	} {
		if !errors.Is(err, sql.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrUnavailable", name, err)
		}
	}
	if d := time.Since(start); d > 15*time.Second {
		t.Errorf("it took %v to say so", d)
	}
	p.down.Store(false)
	if err := s.Commit(ctx, []sql.Transition{one})[0]; err != nil {
		t.Errorf("the same transition when the server is back: %v", err)
	}
}

func TestADeadlockIsTriedAgain(t *testing.T) {
	t.Parallel()
	dsn := newMySQL(t, t.Name())
	s := openStore(t, sql.Config{DSN: dsn})
	low, high := claimedOne(t, s), claimedOne(t, s)
	db, err := stdsql.Open("mysql", strings.TrimPrefix(dsn, "mysql:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	// The antagonist has changed many rows, so that the server ends our transaction, not its.
	if _, err := tx.Exec(`INSERT INTO id_block (name, next_id) VALUES ('a', 1), ('b', 1), ('c', 1), ('d', 1), ('e', 1), ('f', 1)`); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(`UPDATE workflow_instance SET reason = 'x' WHERE id = ?`, high.ID); err != nil {
		t.Fatal(err)
	}
	done := make(chan []error, 1)
	go func() { done <- s.Commit(context.Background(), []sql.Transition{benchStep(low), benchStep(high)}) }()
	waitForLock(t, db, cfgName(t, dsn))
	if _, err := tx.Exec(`UPDATE workflow_instance SET reason = 'x' WHERE id = ?`, low.ID); err != nil {
		t.Fatalf("the antagonist lost the deadlock: %v", err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	for i, err := range <-done {
		if err != nil {
			t.Errorf("transition %d: %v", i, err)
		}
	}
}

func cfgName(t *testing.T, dsn string) string {
	t.Helper()
	cfg, err := mysql.ParseDSN(strings.TrimPrefix(dsn, "mysql:"))
	if err != nil {
		t.Fatal(err)
	}
	return cfg.DBName
}

// lockWaits counts the transactions of a database that wait for a lock, on MySQL and on MariaDB.
var lockWaits = map[bool]string{
	true: `SELECT COUNT(*) FROM performance_schema.data_lock_waits w JOIN performance_schema.threads t ON t.thread_id = w.requesting_thread_id
		WHERE t.processlist_db = ?`,
	false: `SELECT COUNT(*) FROM information_schema.innodb_trx x JOIN information_schema.processlist p ON p.id = x.trx_mysql_thread_id
		WHERE x.trx_state = 'LOCK WAIT' AND p.db = ?`,
}

// waitForLock returns once a transaction in the database waits for a lock.
func waitForLock(t *testing.T, db *stdsql.DB, database string) {
	t.Helper()
	var version string
	if err := db.QueryRow(`SELECT VERSION()`).Scan(&version); err != nil {
		t.Error(err)
		return
	}
	query := lockWaits[!strings.Contains(version, "MariaDB")]
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		n, err := countLockWaits(t.Context(), db, query, database)
		if err != nil {
			t.Error(err)
			return
		}
		if n > 0 {
			return
		}
	}
	t.Error("nobody waits for a lock")
}

// lockReads spaces the reads of all tests. MariaDB's innodb_trx is a copy that is made anew
// only when nobody has read it for 100 ms: two tests that look often see old news for ever.
var lockReads sync.Mutex

func countLockWaits(ctx context.Context, db *stdsql.DB, query, database string) (n int, err error) {
	lockReads.Lock()
	defer lockReads.Unlock()
	select {
	case <-time.After(120 * time.Millisecond):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	err = db.QueryRowContext(ctx, query, database).Scan(&n)
	return n, err
}

func TestManyProcessesMayMigrateMySQLAtOnce(t *testing.T) {
	t.Parallel()
	dsn := newMySQL(t, t.Name())
	var wg sync.WaitGroup
	var ids [4]string
	for i := range ids {
		s, err := sql.Open(t.Context(), sql.Config{DSN: dsn})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		wg.Go(func() {
			if err := s.Migrate(context.Background()); err != nil {
				t.Error(err)
				return
			}
			c, err := s.Cluster(context.Background())
			if err != nil {
				t.Error(err)
			}
			ids[i] = c.ID
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("clusters %v, want one", ids)
		}
	}
}
