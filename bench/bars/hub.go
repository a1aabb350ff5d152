package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/porpoise/porpoise/internal/rpc"
)

const (
	// hubQueue bounds what waits for a commit or for the stream; hubBatch is what one commit or message holds at most.
	hubQueue = 100_000
	hubBatch = 512
	// maxSteps are those of a workflow: an attempt's key is made of both numbers.
	maxSteps = 1000
)

// turn is what one commit of a workflow writes.
type turn struct {
	id, step, steps int64
	kind            turnKind
	done            chan struct{} // of a start: closed when it is durable
}

type turnKind int

const (
	turnStart turnKind = iota
	turnBegin          // dispatches the first step
	turnNext           // ends a step and dispatches the next
	turnEnd
)

// hub takes starts, commits and dispatches.
type hub struct {
	rpc.UnimplementedMasterServer
	db         *stdsql.DB
	turns      chan turn
	dispatches chan turn
	ids, ended atomic.Int64
}

func runHub(ctx context.Context, dsn string) (err error) {
	db, err := openBare(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	h := &hub{db: db, turns: make(chan turn, hubQueue), dispatches: make(chan turn, hubQueue)}
	web, stream, err := listen(ctx)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /start", h.start)
	mux.HandleFunc("GET /ended", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, h.ended.Load()) })
	server := grpc.NewServer()
	rpc.RegisterMasterServer(server, h)
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return h.write(ctx) })
	all.Go(func() error { return server.Serve(stream) })
	all.Go(func() error {
		return (&http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}).Serve(web)
	})
	return all.Wait()
}

// start answers when the start is durable.
func (h *hub) start(w http.ResponseWriter, r *http.Request) {
	steps, err := strconv.ParseInt(r.URL.Query().Get("steps"), 10, 64)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	t := turn{id: h.ids.Add(1), steps: steps, done: make(chan struct{})}
	h.turns <- t
	<-t.done
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprintf(w, `{"instance_id":"%d"}`, t.id)
}

// gather takes what waits, at least one.
func gather(ctx context.Context, from <-chan turn, into []turn) []turn {
	into = into[:0]
	select {
	case <-ctx.Done():
		return into
	case t := <-from:
		into = append(into, t)
	}
	for len(into) < hubBatch {
		select {
		case t := <-from:
			into = append(into, t)
		default:
			return into
		}
	}
	return into
}

// write commits whatever has come since the last commit, and then acts on it.
func (h *hub) write(ctx context.Context) error {
	var batch []turn
	for {
		if batch = gather(ctx, h.turns, batch); len(batch) == 0 {
			return ctx.Err()
		}
		if err := h.commit(ctx, batch); err != nil {
			return err
		}
		for _, t := range batch {
			switch t.kind {
			case turnStart:
				close(t.done)
				t.kind = turnBegin
				h.turns <- t
			case turnBegin, turnNext:
				h.dispatches <- t
			case turnEnd:
				h.ended.Add(1)
			}
		}
	}
}

func (h *hub) commit(ctx context.Context, batch []turn) error {
	var of [turnEnd + 1][]turn
	for _, t := range batch {
		of[t.kind] = append(of[t.kind], t)
	}
	tx, err := h.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	exec := func(head, row, tail string, turns []turn, values func(turn) []any) {
		if err != nil || len(turns) == 0 {
			return
		}
		var args []any
		for _, t := range turns {
			args = append(args, values(t)...)
		}
		_, err = tx.ExecContext(ctx, head+strings.Repeat(row+", ", len(turns)-1)+row+tail, args...)
	}
	now := time.Now().UnixMilli()
	id := func(t turn) []any { return []any{t.id} }
	attempt := func(step int64) func(t turn) []any {
		return func(t turn) []any { return []any{t.id*maxSteps + t.step + step} }
	}
	exec("INSERT INTO instance (id, state, at) VALUES ", "(?, 'submitted', ?)", "", of[turnStart], func(t turn) []any { return []any{t.id, now} })
	exec("UPDATE instance SET state = 'running' WHERE id IN (", "?", ")", of[turnBegin], id)
	exec("UPDATE attempt SET state = 'success' WHERE id IN (", "?", ")", of[turnNext], attempt(-1))
	exec("INSERT INTO attempt (id, state, at) VALUES ", "(?, 'running', 1)", "", append(of[turnBegin], of[turnNext]...), attempt(0))
	exec("UPDATE attempt SET state = 'success' WHERE id IN (", "?", ")", of[turnEnd], attempt(0))
	exec("UPDATE instance SET state = 'success' WHERE id IN (", "?", ")", of[turnEnd], id)
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Work is the stream of the one hand.
func (h *hub) Work(stream rpc.Master_WorkServer) error {
	if _, err := stream.Recv(); err != nil {
		return err
	}
	// How many steps a workflow has comes back in the task of its attempt, which nobody else reads.
	go func() {
		var batch []turn
		for {
			if batch = gather(stream.Context(), h.dispatches, batch); len(batch) == 0 {
				return
			}
			m := &rpc.MasterMessage{Dispatches: make([]*rpc.Dispatch, len(batch))}
			for i, t := range batch {
				m.Dispatches[i] = &rpc.Dispatch{Type: "noop", Attempt: &rpc.AttemptID{InstanceId: t.id, Number: int32(t.step), Task: int32(t.steps), Token: "0123456789abcdef"}}
			}
			if stream.Send(m) != nil {
				return
			}
		}
	}()
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		for _, r := range m.GetReports() {
			t := turn{id: r.GetAttempt().GetInstanceId(), step: int64(r.GetAttempt().GetNumber()), steps: int64(r.GetAttempt().GetTask()), kind: turnEnd}
			if t.step+1 < t.steps {
				t.step, t.kind = t.step+1, turnNext
			}
			h.turns <- t
		}
	}
}
