package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/porpoise/porpoise/bench/crowd"
	"github.com/porpoise/porpoise/bench/site"
	"github.com/porpoise/porpoise/internal/rpc"
)

// The skeleton is a product without the product: a hub that takes HTTP starts, writes three group commits for each workflow
// (start; begin and dispatch; end) and one more for each further step, and a hand that answers dispatches over a gRPC
// stream. It has no rights, definitions, claims, epochs, logs or lists. What it comes to is the limit of the product's rate.

// part is the command line of one of its two processes.
type part struct{ role, hub, database string }

func (p part) run(ctx context.Context) error {
	switch p.role {
	case "hub":
		return runHub(ctx, p.database)
	case "hand":
		return runHand(ctx, p.hub)
	default:
		return fmt.Errorf("skeleton %q: want hub or hand", p.role)
	}
}

// runHand answers every dispatch at once.
func runHand(ctx context.Context, hub string) error {
	conn, err := grpc.NewClient(hub, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	stream, err := rpc.NewMasterClient(conn).Work(ctx)
	if err != nil {
		return err
	}
	if err := stream.Send(&rpc.WorkerMessage{Hello: &rpc.Hello{Worker: "hand"}}); err != nil {
		return err
	}
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		reports := make([]*rpc.Report, len(m.GetDispatches()))
		for i, d := range m.GetDispatches() {
			reports[i] = &rpc.Report{Attempt: d.GetAttempt(), State: "success"}
		}
		if err := stream.Send(&rpc.WorkerMessage{Reports: reports}); err != nil {
			return err
		}
	}
}

// skeleton is one that runs.
type skeleton struct {
	site *site.Site
	url  string
	drop func(context.Context) error
}

// startSkeleton runs both processes on a database as the measured site has it.
func (m *measure) startSkeleton(ctx context.Context) (s *skeleton, err error) {
	own, err := site.New()
	if err != nil {
		return nil, err
	}
	s = &skeleton{site: own, drop: func(context.Context) error { return nil }}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop(ctx))
		}
	}()
	dsn := "sqlite:" + filepath.Join(own.Dir, "skeleton.db")
	if m.database == 1 {
		if dsn, s.drop, err = site.Scratch(ctx, m.mariadb); err != nil {
			s.drop = func(context.Context) error { return nil }
			return s, err
		}
		dsn = "mysql:" + dsn
	}
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	if _, err := own.Launch(ctx, "hub", site.Program{Path: self, Args: []string{"-skeleton", "hub", "-skeleton-database", dsn}}); err != nil {
		return s, err
	}
	var web, stream string
	err = own.Until(ctx, "the hub listens", func() error {
		text, err := os.ReadFile(filepath.Join(own.Dir, "hub.log"))
		if err != nil {
			return err
		}
		_, err = fmt.Sscanf(string(text), "%s %s\n", &web, &stream)
		return err
	})
	if err != nil {
		return s, err
	}
	s.url = "http://" + web
	_, err = own.Launch(ctx, "hand", site.Program{Path: self, Args: []string{"-skeleton", "hand", "-skeleton-hub", stream}})
	return s, err
}

// rate is how many workflows of that many steps it ends per second, from so many callers.
func (s *skeleton) rate(ctx context.Context, callers, steps int) (float64, error) {
	before, err := s.ended(ctx)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	n, err := crowd.Calls(ctx, callers, func() *crowd.Caller { return crowd.NewCaller(s.url, "/start?steps="+strconv.Itoa(steps), "") },
		func(int64) bool { return time.Since(began) < bareFor })
	if err != nil {
		return 0, err
	}
	err = s.site.Until(ctx, "all have ended", func() error {
		now, err := s.ended(ctx)
		if err == nil && now < before+n {
			err = fmt.Errorf("%d of %d", now-before, n)
		}
		return err
	})
	return float64(n) / time.Since(began).Seconds(), err
}

// ended is how many workflows have ended so far.
func (s *skeleton) ended(ctx context.Context) (n int64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/ended", http.NoBody)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	text, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

func (s *skeleton) stop(ctx context.Context) error {
	for _, p := range s.site.Parts {
		p.Kill() // what it holds is nobody's
	}
	return errors.Join(s.site.Stop(), s.drop(context.WithoutCancel(ctx)))
}

// openBare opens a database that is as durable as the product's, with one connection and the skeleton's tables.
func openBare(ctx context.Context, dsn string) (*stdsql.DB, error) {
	driver, name, _ := strings.Cut(dsn, ":")
	if driver == "sqlite" {
		name = "file:" + name + "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=wal_autocheckpoint(4000)"
	} else {
		name += "?interpolateParams=true"
	}
	db, err := stdsql.Open(driver, name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	for _, text := range []string{
		"CREATE TABLE instance (id BIGINT PRIMARY KEY, state VARCHAR(16) NOT NULL, at BIGINT NOT NULL)",
		"CREATE TABLE attempt (id BIGINT PRIMARY KEY, state VARCHAR(16) NOT NULL, at BIGINT NOT NULL)",
	} {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

// listen finds two ports and says on standard output which: the first is for HTTP.
func listen(ctx context.Context) (web, stream net.Listener, err error) {
	var config net.ListenConfig
	if web, err = config.Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return nil, nil, err
	}
	if stream, err = config.Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return nil, nil, errors.Join(err, web.Close())
	}
	_, err = fmt.Printf("%s %s\n", web.Addr(), stream.Addr())
	return web, stream, err
}
