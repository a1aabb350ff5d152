package site

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/porpoise/porpoise/sql"
)

// mariaDB is the server that the environment names.
func mariaDB(t *testing.T) string {
	t.Helper()
	dsn := os.Getenv("PORPOISE_TEST_MYSQL")
	if dsn == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("PORPOISE_TEST_MYSQL names no server, and with CI=true nothing may be skipped")
		}
		t.Skip("PORPOISE_TEST_MYSQL names no server: scripts/with-mariadb go test ./bench/site")
	}
	return dsn
}

// open lets an address lead to a server until the test ends.
func open(t *testing.T, address, server string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go lead(from, server)
		}
	}()
}

func lead(from net.Conn, server string) {
	defer func() { _ = from.Close() }()
	to, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", server)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(to, from); _ = to.Close() })
	_, _ = io.Copy(from, to)
	_ = from.Close()
	both.Wait()
}

// shared makes a database on MariaDB and its schema; change alters the DSN that the roles then get.
func (o *own) shared(server string, change func(*mysql.Config)) (address string) {
	o.Helper()
	var err error
	if o.database, err = o.site.database(o.ctx, server); err != nil {
		o.Fatal(err)
	}
	o.migrate()
	cfg, err := mysql.ParseDSN(strings.TrimPrefix(o.database, "mysql:"))
	if err != nil {
		o.Fatal(err)
	}
	address = cfg.Addr
	change(cfg)
	o.database = "mysql:" + cfg.FormatDSN()
	return address
}

// get asks an apiserver that may not be there yet.
func (o *own) get(address, path string) (code int, body string) { return o.getAs(address, path, "") }

func (o *own) getAs(address, path, token string) (code int, body string) {
	req, err := http.NewRequestWithContext(o.ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		o.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

// answers waits for an answer of an apiserver.
func (o *own) answers(address, path string, code int, text string) {
	o.Helper()
	err := o.site.Until(o.ctx, path+" says "+text, func() error {
		got, body := o.get(address, path)
		if got == code && strings.Contains(body, text) {
			return nil
		}
		return fmt.Errorf("%s = %d %s, want %d %s", path, got, body, code, text)
	})
	if err != nil {
		o.Fatal(err)
	}
}

// obeys sends TERM to a part that waits, which must end at once.
func (o *own) obeys(p *Part) {
	o.Helper()
	asked := time.Now()
	p.Signal(syscall.SIGTERM)
	if err := p.Wait(o.ctx); !errors.As(err, new(*exec.ExitError)) {
		o.Errorf("%s ended with %v, want the exit code of what was interrupted", p.Name, err)
	}
	if took := time.Since(asked); took > 3*time.Second {
		o.Errorf("%s took %s to end while it waited", p.Name, took)
	}
	o.forget(p)
}

const waitsForDatabase, waitsForRegistry = `what="the database"`, `what="the registry"`

// After a power cut everything comes back in any order, and nobody is there to help.
func TestRolesWaitForWhatIsAwayAtTheirStart(t *testing.T) {
	t.Parallel()
	server := mariaDB(t)
	o := newOwn(deadline(t), t)
	gate, etcd, web := o.free(), o.free(), o.free()
	behind := o.shared(server, func(cfg *mysql.Config) { cfg.Addr = gate })

	api := o.role("apiserver", "a1", etcd, "--http", web)
	m, other := o.role("master", "m1", etcd), o.role("master", "m2", etcd)
	o.answers(web, "/healthz", http.StatusOK, "not ready: waiting for the database")
	o.answers(web, "/readyz", http.StatusServiceUnavailable, "not ready: waiting for the database")
	o.answers(web, "/api/v1/projects", http.StatusServiceUnavailable, "not ready")
	o.says(other, waitsForDatabase)
	o.obeys(other)
	began := time.Now()
	o.says(m, waitsForDatabase+" since=5s")
	if code, _, errs := finish(t, porpoise(o.ctx, o.site, "ready", "--data", o.dir("m1"))); code != 3 || !strings.Contains(errs, "not ready") {
		t.Errorf("ready --data of a master that waits = %d %s, want 3", code, errs)
	}
	if lines, most := strings.Count(m.Log(), waitsForDatabase), 2+int(time.Since(began)/(5*time.Second)); lines > most {
		t.Errorf("%d lines of one wait, want one in five seconds:\n%s", lines, m.Tail())
	}

	// The database is back, the registry is not: the API serves, since starts are rows.
	open(t, gate, behind)
	o.answers(web, "/readyz", http.StatusOK, "ready")
	o.says(m, waitsForRegistry)
	other = o.role("master", "m2", etcd)
	o.says(other, waitsForRegistry)
	o.obeys(other)
	o.registry("etcd", etcd)
	o.says(m, "slots taken")
	if code, _, errs := finish(t, porpoise(o.ctx, o.site, "ready", "--data", o.dir("m1"))); code != 0 {
		t.Errorf("ready --data of a master = %d %s", code, errs)
	}
	o.says(api, "the registry answers, and is the one of this database")
}

func TestWhatDoesNotPassEndsAStartAtOnce(t *testing.T) {
	t.Parallel()
	server := mariaDB(t)
	ctx := deadline(t)
	for name, c := range map[string]struct {
		change func(*mysql.Config)
		text   string
	}{
		"password": {func(cfg *mysql.Config) { cfg.User, cfg.Passwd = "nobody", "wrong" }, "Access denied"},
		"database": {func(cfg *mysql.Config) { cfg.DBName = "porpoise_no_such" }, "Unknown database"},
		"newer":    {func(cfg *mysql.Config) { raise(t, cfg) }, "is newer than this program"},
	} {
		o := newOwn(ctx, t)
		o.shared(server, c.change)
		began := time.Now()
		o.refused(o.role("master", name, o.free()), c.text)
		o.refused(o.role("apiserver", name+"-api", o.free(), "--http", "127.0.0.1:0"), c.text)
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("%s: two starts took %s to be refused", name, took)
		}
	}
}

// raise makes the schema that of a later version.
func raise(t *testing.T, cfg *mysql.Config) {
	t.Helper()
	db, err := stdsql.Open("mysql", cfg.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), "INSERT INTO schema_version (version_id, is_applied) VALUES (9999, 1)"); err != nil {
		t.Fatal(err)
	}
}

// A database that is away is known by its error, whatever takes its place on the port.
func TestAnOpenThatMayHelpLaterSaysSo(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	nothing, err := FreeAddress(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for name, dsn := range map[string]string{
		"nothing listens": "mysql:u:p@tcp(" + nothing + ")/d",
		"no such host":    "mysql:u:p@tcp(no-such-host.invalid:3306)/d",
	} {
		if _, err := sql.Open(ctx, sql.Config{DSN: dsn}); !errors.Is(err, sql.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrUnavailable", name, err)
		}
	}
	if _, err := sql.Open(ctx, sql.Config{DSN: "sqlite:" + filepath.Join("/dev/null", "x")}); err == nil || errors.Is(err, sql.ErrUnavailable) {
		t.Errorf("a path that can be no file: %v, want an error that ends the start", err)
	}
}
