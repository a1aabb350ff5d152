package apiserver

import (
	"context"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/porpoise/porpoise/sql"
)

const (
	// maxAuditQueue is how many rows wait for the database. A change waits for a place;
	// a refusal that finds none is dropped and counted, so that a flood of bad requests
	// can't hold up good ones.
	maxAuditQueue = 4096
	// auditBatch is how many rows one transaction writes.
	auditBatch = 256
	// auditDelay is how long rows are collected before they are written, unless a batch is full: where little happens, the
	// audit must not take the database's write lock between a start and the commit that it waits for.
	auditDelay = 200 * time.Millisecond
	// auditRetry is how long after a failed write the rows are tried again.
	auditRetry = time.Second
	// auditGoodbye is how long the rest may take at the end.
	auditGoodbye = 5 * time.Second
)

// auditor carries audit rows to the database, many at a time, off the path of requests.
// A process that is killed loses what it had not written yet: a fraction of a second.
// Who started or controlled what is also in those rows themselves, so that is not lost.
type auditor struct {
	store AuditStore
	log   hclog.Logger
	rows  chan sql.AuditRow
	count *prometheus.CounterVec
}

func newAuditor(store AuditStore, log hclog.Logger, count *prometheus.CounterVec) *auditor {
	return &auditor{store: store, log: log, count: count, rows: make(chan sql.AuditRow, maxAuditQueue)}
}

// record writes down a change, or an attempt at what the caller may not.
func (s *Server) record(ctx context.Context, c *call, status int) {
	refused := status == http.StatusForbidden || status == http.StatusUnauthorized || status == http.StatusNotFound && c.who != nil
	if (c.spec.safe() && !refused && c.spec.id != "sign-in-link") || c.spec.unaudited && !refused {
		return
	}
	if c.who == nil && status == http.StatusServiceUnavailable {
		return // it was sent away before anybody looked who asks for what
	}
	if c.who == nil && status == http.StatusTooManyRequests && c.spec.id == "call-schedule" {
		return // those before it are there: a flood of wrong signatures is to fill no table
	}
	row := sql.AuditRow{CreatedAt: s.at(), Address: c.ip, Action: c.spec.id, Object: c.object(), Outcome: "done", Detail: http.StatusText(status) + " " + c.id}
	if c.who != nil {
		row.Actor = c.who.name
	}
	if status >= 400 {
		row.Outcome = "failed"
	}
	if refused {
		row.Outcome = "refused"
		select {
		case s.audit.rows <- row:
		default:
			s.metrics.audited.WithLabelValues("dropped").Inc()
		}
		return
	}
	s.queue(ctx, row)
}

// queue puts a row where the writer finds it. Only where there is no place is there something to wait
// for, and then no longer than the request lives: one that is over already has its place, too.
func (s *Server) queue(ctx context.Context, row sql.AuditRow) {
	select {
	case s.audit.rows <- row:
		return
	default:
	}
	select {
	case s.audit.rows <- row:
	case <-ctx.Done():
		s.log.Error("audit row lost", "actor", row.Actor, "action", row.Action, "object", row.Object, "outcome", row.Outcome)
		s.metrics.audited.WithLabelValues("dropped").Inc()
	}
}

// run writes until ctx ends, then what is left.
func (a *auditor) run(ctx context.Context) error {
	for {
		select {
		case row := <-a.rows:
			a.write(ctx, a.collect(ctx, row))
		case <-ctx.Done():
			a.goodbye(ctx)
			return nil
		}
	}
}

// collect waits for what else comes within the delay, up to a batch.
func (a *auditor) collect(ctx context.Context, first sql.AuditRow) []sql.AuditRow {
	delay := time.NewTimer(auditDelay)
	defer delay.Stop()
	rows := []sql.AuditRow{first}
	for len(rows) < auditBatch {
		select {
		case row := <-a.rows:
			rows = append(rows, row)
		case <-delay.C:
			return rows
		case <-ctx.Done():
			return rows
		}
	}
	return rows
}

// goodbye writes what is left when the server ends.
func (a *auditor) goodbye(ctx context.Context) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditGoodbye)
	defer cancel()
	for {
		select {
		case row := <-a.rows:
			a.write(last, a.batch(row))
		default:
			return
		}
	}
}

func (a *auditor) batch(first sql.AuditRow) []sql.AuditRow {
	rows := []sql.AuditRow{first}
	for len(rows) < auditBatch {
		select {
		case row := <-a.rows:
			rows = append(rows, row)
		default:
			return rows
		}
	}
	return rows
}

// write tries until it succeeds: while the database is away nothing else can be changed
// either, so the queue behind it stays short.
func (a *auditor) write(ctx context.Context, rows []sql.AuditRow) {
	for {
		// A write that has begun is ended even when the server is told to stop.
		once, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditGoodbye)
		err := a.store.AddAudit(once, rows)
		cancel()
		if err == nil {
			a.count.WithLabelValues("written").Add(float64(len(rows)))
			return
		}
		a.log.Warn("audit not written yet", "rows", len(rows), "error", err)
		select {
		case <-ctx.Done():
			for _, r := range rows {
				a.log.Error("audit row lost", "actor", r.Actor, "action", r.Action, "object", r.Object, "outcome", r.Outcome)
			}
			a.count.WithLabelValues("dropped").Add(float64(len(rows)))
			return
		case <-time.After(auditRetry):
		}
	}
}
