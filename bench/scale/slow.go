package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/bench/chaos/proxy"
	"github.com/porpoise/porpoise/bench/crowd"
	"github.com/porpoise/porpoise/bench/history"
	"github.com/porpoise/porpoise/bench/site"
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

const (
	// lateBy is by how much each message to and from the database server is late where it is slow: a statement takes 10 ms more.
	lateBy = 5 * time.Millisecond
	// listed instances are in the lists of the project that listCallers read without a pause.
	listed      = 200_000
	listCallers = 8
)

// lateCluster is cluster with a database server whose messages are late, each way, from when all is up.
func (m *measure) lateCluster(ctx context.Context, late time.Duration, o site.Options, work func(*site.Site) error) error {
	if late == 0 {
		return m.cluster(ctx, o, work)
	}
	if m.mariadb == "" {
		progress("left out: a slow database needs a server")
		return nil
	}
	cfg, err := mysql.ParseDSN(m.mariadb)
	if err != nil {
		return fmt.Errorf("PORPOISE_TEST_MYSQL: %w", err)
	}
	link, err := proxy.Listen(ctx, cfg.Addr, nil)
	if err != nil {
		return err
	}
	defer link.Close()
	cfg.Net, cfg.Addr = "tcp", link.Address
	o.Database = cfg.FormatDSN()
	return m.cluster(ctx, o, func(s *site.Site) error {
		link.Set(proxy.Fault{Kind: proxy.Delay, Delay: late})
		defer link.Set(proxy.Fault{})
		return work(s)
	})
}

// besideSlowly is besideFlood with a database that is slow for everybody.
func (m *measure) besideSlowly(ctx context.Context) error {
	n := m.flood(ctx)
	n.late, n.what = lateBy, n.what+fmt.Sprintf(", each statement %s late in both", 2*lateBy)
	return m.beside(ctx, n)
}

// besideLists lets readers go through the lists of another project, which has many instances, as fast as they are answered.
func (m *measure) besideLists(ctx context.Context) error {
	return m.beside(ctx, noises{
		what: fmt.Sprintf("%d readers of the lists, counts and bars of other projects with %d instances together", listCallers, listed),
		prepare: func(s *site.Site) (err error) {
			db, err := beside(s.DSN)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			store, err := sql.Open(ctx, sql.Config{DSN: s.DSN})
			if err != nil {
				return err
			}
			progress("%d instances of other projects", listed)
			_, _, err = history.Fill(ctx, store, db, listed, true)
			return errors.Join(err, store.Close())
		},
		meanwhile: func(ctx context.Context, s *site.Site) error {
			all, within := errgroup.WithContext(ctx)
			for i := range listCallers {
				all.Go(func() error { return readLists(within, s, i) })
			}
			return all.Wait()
		},
	})
}

// readLists goes through what a script or a console asks of a project's many instances, each in turn.
func readLists(ctx context.Context, s *site.Site, reader int) error {
	older := time.UnixMilli(history.Born + 500*listed).UTC().Format(time.RFC3339)
	var callers []*crowd.Caller
	for _, of := range []string{
		"instances?limit=200&", "instances/counts?", "instances?limit=200&state=failed&", "instances?limit=200&longer=1h&", "instances?limit=200&to=" + url.QueryEscape(older) + "&", "instances/histogram?",
	} {
		c := crowd.NewReader(s, "/api/v1/"+of+"project=project-"+strconv.Itoa(reader))
		defer c.Close()
		callers = append(callers, c)
	}
	for n := 0; ctx.Err() == nil; n++ {
		a, err := callers[n%len(callers)].Call(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			return fmt.Errorf("read a list: %w", err)
		case a.Status == http.StatusServiceUnavailable && a.RetryAfter != "": // it sheds readers first
		case a.Status != http.StatusOK:
			return fmt.Errorf("read a list: status %d: %s", a.Status, a.Body)
		}
	}
	return ctx.Err()
}

// tally counts the instances of a workflow by their states, in the rows.
func tally(ctx context.Context, s *site.Site, workflow string) (by map[dag.InstanceState]int, err error) {
	db, err := beside(s.DSN)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, `SELECT i.state, COUNT(*) FROM workflow_instance i JOIN workflow w ON w.id = i.workflow_id WHERE w.name = ? GROUP BY i.state`, workflow)
	if err != nil {
		return nil, fmt.Errorf("count instances: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	by = map[dag.InstanceState]int{}
	for rows.Next() {
		var state dag.InstanceState
		var n int
		if err := rows.Scan(&state, &n); err != nil {
			return nil, fmt.Errorf("count instances: %w", err)
		}
		by[state] = n
	}
	return by, rows.Err()
}
