package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/porpoise/porpoise/bench/chaos/proxy"
)

// outage is one thing that is taken away.
type outage struct {
	What   string
	For    time.Duration
	flag   string
	usual  time.Duration
	pad    int  // bytes that every start brings along
	yields bool // a master that can do nothing any more may give its work to others
	reads  bool // lists can be read all the time
	sheds  bool // there is too little of everything: requests may be refused, and late
	bites  bool // some starts must be refused, or it was no outage
	// happen takes it away for a time and brings it back; the note is what else was seen.
	happen func(ctx context.Context, b *bench, d time.Duration) (note string, err error)
}

// kinds are all outages, in the order in which they are made.
var kinds = []outage{
	// It is the first, since what fits into the pages that are there already needs no space. The padding
	// fills pages, and is below what a row of InnoDB keeps elsewhere: MariaDB 10.11 itself ends when it has no
	// space for such a value.
	{What: "database's disk full", flag: "full", happen: full, bites: true, pad: 3_000, reads: true, yields: true},
	{What: "database killed (kill -9)", flag: "database", usual: 10 * time.Second, happen: killed("database"), bites: true},
	{What: "database hangs without a word", flag: "hung", happen: hangs, bites: true},
	{What: "database with five connections for all", flag: "connections", happen: fiveConnections, yields: true},
	{What: "database read-only", flag: "readonly", happen: readOnly, bites: true, reads: true, yields: true},
	{What: "database slow, 500 ms a statement", flag: "slow", happen: slow, reads: true},
	{What: "all of etcd killed", flag: "etcd", usual: 30 * time.Second, happen: killed("etcd"), reads: true},
	{What: "members of etcd killed in turn, one each 5 s", flag: "turns", happen: turns, reads: true},
	{What: fmt.Sprintf("processors burnt by %d processes a core", burnersPerCore), flag: "burn", happen: burn, sheds: true},
}

// killed kills the database, or all members of etcd.
func killed(role string) func(context.Context, *bench, time.Duration) (string, error) {
	return func(ctx context.Context, b *bench, d time.Duration) (string, error) {
		nodes := []string{"database"}
		if role == "etcd" {
			nodes = b.Role("etcd")
		}
		for _, node := range nodes {
			b.Kill(node)
		}
		sleep(ctx, d)
		for _, node := range nodes {
			if err := b.Revive(ctx, node); err != nil {
				return "", err
			}
		}
		return "", nil
	}
}

func hangs(ctx context.Context, b *bench, d time.Duration) (string, error) {
	if err := b.Freeze("database"); err != nil {
		return "", err
	}
	sleep(ctx, d)
	return "", b.Continue("database")
}

func turns(ctx context.Context, b *bench, d time.Duration) (string, error) {
	until := time.Now().Add(d)
	for n := 0; time.Now().Before(until); n++ {
		node := b.Role("etcd")[n%len(b.Role("etcd"))]
		b.Kill(node)
		sleep(ctx, calm/2)
		if err := b.Revive(ctx, node); err != nil {
			return "", err
		}
		sleep(ctx, calm/2)
	}
	return "", nil
}

// slow delays what is on its way, in each direction by half of it.
func slow(ctx context.Context, b *bench, d time.Duration) (string, error) {
	set := func(f proxy.Fault) {
		for _, link := range b.LinksTo("database") {
			b.Set(link, f)
		}
	}
	set(proxy.Fault{Kind: proxy.Delay, Delay: 250 * time.Millisecond})
	sleep(ctx, d)
	set(proxy.Fault{})
	return "", nil
}

// readOnly makes the server refuse writes of those who lack SUPER; no node has it.
func readOnly(ctx context.Context, b *bench, d time.Duration) (string, error) {
	return "", b.admin(func(db *stdsql.DB) error {
		if _, err := db.ExecContext(ctx, "SET GLOBAL read_only = 1"); err != nil {
			return fmt.Errorf("make the database read-only: %w", err)
		}
		sleep(ctx, d)
		_, err := db.ExecContext(context.WithoutCancel(ctx), "SET GLOBAL read_only = 0")
		return err
	})
}

const (
	// leastConnections is the least that MariaDB takes as max_connections. We hold all of them but
	// five: some as a user of no rights, and the one that sets it.
	leastConnections = 10
	left             = 5
	usualConnections = 500 // as scripts/mariadb starts it
)

// fiveConnections leaves five connections to all masters and apiservers, and ends those they have.
func fiveConnections(ctx context.Context, b *bench, d time.Duration) (note string, err error) {
	err = b.admin(func(db *stdsql.DB) error {
		release, err := b.occupy(ctx, db, leastConnections-left-1)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, release()) }()
		if _, err := db.ExecContext(ctx, fmt.Sprintf("SET GLOBAL max_connections = %d", leastConnections)); err != nil {
			return fmt.Errorf("bound the connections: %w", err)
		}
		for _, node := range b.Nodes {
			// One that has none just now is as good.
			_, _ = db.ExecContext(ctx, fmt.Sprintf("KILL USER '%s'@'127.0.0.1'", node))
		}
		sleep(ctx, d)
		ctx := context.WithoutCancel(ctx)
		if note, err = holders(ctx, db); err != nil {
			return err
		}
		_, err = db.ExecContext(ctx, fmt.Sprintf("SET GLOBAL max_connections = %d", usualConnections))
		return err
	})
	return note, err
}

// occupy holds n connections until they are released.
func (b *bench) occupy(ctx context.Context, db *stdsql.DB, n int) (release func() error, err error) {
	if _, err := db.ExecContext(ctx, "CREATE OR REPLACE USER 'idler'@'127.0.0.1'"); err != nil {
		return nil, fmt.Errorf("make a user: %w", err)
	}
	cfg, err := mysql.ParseDSN(b.MariaDB.DSN)
	if err != nil {
		return nil, fmt.Errorf("database server: %w", err)
	}
	cfg.User, cfg.DBName = "idler", ""
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("database server: %w", err)
	}
	idle := stdsql.OpenDB(connector)
	for range n {
		if _, err := idle.Conn(ctx); err != nil { // closed with idle
			return nil, errors.Join(fmt.Errorf("hold a connection: %w", err), idle.Close())
		}
	}
	return idle.Close, nil
}

// holders says how many connections each user has.
func holders(ctx context.Context, db *stdsql.DB) (string, error) {
	rows, err := db.QueryContext(ctx, "SELECT CONCAT(user, ' ', COUNT(*)) FROM information_schema.processlist WHERE user NOT IN ('root', 'idler') GROUP BY user")
	if err != nil {
		return "", fmt.Errorf("list the connections: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var list []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return "", fmt.Errorf("list the connections: %w", err)
		}
		list = append(list, line)
	}
	return strings.Join(list, ", "), rows.Err()
}

// full takes all space that the database's disk has left.
func full(ctx context.Context, b *bench, d time.Duration) (string, error) {
	if err := b.disk.fill(); err != nil {
		return "", err
	}
	sleep(ctx, d)
	if err := b.disk.free(); err != nil {
		return "", err
	}
	if !b.Dead("database") {
		return "", nil
	}
	b.fell = append(b.fell, "database") // it can do without space, unless it is asked for too much
	return "", b.Revive(ctx, "database")
}

// burnersPerCore never wait for anything.
const burnersPerCore = 8

func burn(ctx context.Context, _ *bench, d time.Duration) (string, error) {
	n := burnersPerCore * runtime.NumCPU()
	burners := make([]*exec.Cmd, 0, n)
	defer func() {
		for _, cmd := range burners {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			_ = cmd.Wait() // killed
		}
	}()
	for range n {
		// They end by themselves, should this program be gone.
		cmd := exec.Command("timeout", "-s", "KILL", fmt.Sprint(int((d + settleWait).Seconds())), "sh", "-c", "while :; do :; done")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			return "", fmt.Errorf("start a burner: %w", err)
		}
		burners = append(burners, cmd)
	}
	sleep(ctx, d)
	return fmt.Sprintf("%d burners", n), nil
}
