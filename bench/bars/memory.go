package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/bench/crowd"
	"github.com/porpoise/porpoise/bench/site"
)

const (
	kibibyte      = 1 << 10
	runningBar    = 20 * kibibyte
	waitingBar    = 2 * kibibyte
	masterBar     = 512 << 20
	memoryCallers = 64
	// memorySlots is about as many as a worker may have.
	memorySlots = 4000
	// evictedAfter is how long an instance that only waits stays in memory, with some time for looking.
	evictedAfter = 45 * time.Second
	// memoryPatience bounds how long is waited until all of them run.
	memoryPatience = 3 * time.Minute
)

// memory measures what instances cost a master that is a process of its own: such as run, each with a call of its worker
// under way, and such as wait for a moment and nothing else.
func (m *measure) memory(ctx context.Context) error {
	address, err := site.FreeAddress(ctx)
	if err != nil {
		return err
	}
	database := m.mariadb
	if database == "" {
		database = site.SQLite
	}
	m.where = "master of a process for each role"
	m.site, err = site.Cluster(ctx, site.Options{Binary: m.porpoise, Database: database, Masters: 1, Workers: 1 + (m.running-1)/memorySlots, Slots: memorySlots, Flags: map[string][]string{
		"master": {"--pprof", address}, "worker": {"--heartbeat-batch", fmt.Sprint(memorySlots)},
	}})
	if err != nil {
		return err
	}
	if _, err := m.site.Client.PutProject(ctx, project, "Measured"); err != nil {
		return err
	}
	err = m.memoryOf(ctx, address, kind{
		what: fmt.Sprintf("waiting instances, %s after their start", evictedAfter), task: crowd.Task{Name: "wait", Type: "wait", For: "10h"}, count: m.waiting, bar: waitingBar,
		until: func(ctx context.Context) error { return crowd.Pause(ctx, evictedAfter) },
	})
	if err != nil {
		return err
	}
	h, err := hold(ctx)
	if err != nil {
		return err
	}
	err = m.memoryOf(ctx, address, kind{
		what: "running instances, each with an http task whose call is under way", task: crowd.Task{Name: "call", Type: "http", URL: h.url}, count: m.running, bar: runningBar,
		until: func(ctx context.Context) error { return h.until(ctx, int64(m.running)) },
	})
	h.release()
	if err == nil {
		err = m.place("kept").Over(ctx)
	}
	return errors.Join(err, h.close())
}

// kind is one kind of instances whose memory is measured.
type kind struct {
	what  string
	task  crowd.Task
	count int
	bar   float64
	until func(context.Context) error // they are as they shall be
}

// memoryOf measures one kind, by what the master's heap holds after a collection, before and after.
func (m *measure) memoryOf(ctx context.Context, address string, k kind) error {
	m.progress("%d %s", k.count, k.what)
	workflow := map[bool]string{true: "kept", false: "waits"}[k.task.Type == "http"]
	if err := m.place(workflow).Save(ctx, []crowd.Task{k.task}, nil); err != nil {
		return err
	}
	before, err := heap(ctx, address)
	if err != nil {
		return err
	}
	f := crowd.Crowd{Site: m.site, Project: project, Workflow: workflow, Callers: memoryCallers}
	if _, err := f.Call(ctx, 0, int64(k.count)); err != nil {
		return err
	}
	if err := k.until(ctx); err != nil {
		return err
	}
	after, err := heap(ctx, address)
	if err != nil {
		return err
	}
	cost, err := m.site.Part("master-1").Cost()
	if err != nil {
		return err
	}
	each := float64(after-before) / float64(k.count)
	m.rows = append(m.rows,
		row{
			What: fmt.Sprintf("memory of a master for each of %d %s: its heap after a collection", k.count, k.what),
			Ours: fmt.Sprintf("%.1f KiB", each/kibibyte), Bar: fmt.Sprintf("<= %.0f KiB", k.bar/kibibyte), Missed: each > k.bar, Value: each / kibibyte,
		},
		row{
			What: "resident memory of that master then, with what was not collected",
			Ours: fmt.Sprintf("%d MiB", cost.RSS>>20), Bar: fmt.Sprintf("<= %d MiB", masterBar>>20), Missed: cost.RSS > masterBar, Value: float64(cost.RSS >> 20),
		})
	return nil
}

// heap is what a process's heap holds after a collection.
func heap(ctx context.Context, address string) (bytes int64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/debug/pprof/heap?gc=1&debug=1", http.NoBody)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, fmt.Errorf("read the heap: %w", err)
	}
	text, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return 0, fmt.Errorf("read the heap: %w", err)
	}
	_, rest, _ := strings.Cut(string(text), "\n# HeapAlloc = ")
	if _, err := fmt.Sscan(rest, &bytes); err != nil {
		return 0, fmt.Errorf("read the heap of %s: %w", address, err)
	}
	return bytes, nil
}

// holder answers no call until it is told to.
type holder struct {
	url     string
	came    atomic.Int64
	free    chan struct{}
	server  *http.Server
	serving errgroup.Group
}

func hold(ctx context.Context) (*holder, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for tasks: %w", err)
	}
	h := &holder{url: "http://" + listener.Addr().String(), free: make(chan struct{})}
	h.server = &http.Server{ReadHeaderTimeout: memoryPatience, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		h.came.Add(1)
		<-h.free
	})}
	h.serving.Go(func() error { return h.server.Serve(listener) })
	return h, nil
}

// until waits for so many calls.
func (h *holder) until(ctx context.Context, n int64) error {
	ctx, cancel := context.WithTimeout(ctx, memoryPatience)
	defer cancel()
	for h.came.Load() < n {
		if err := crowd.Pause(ctx, time.Second/10); err != nil {
			return fmt.Errorf("%d of %d calls have come: %w", h.came.Load(), n, err)
		}
	}
	return nil
}

func (h *holder) release() { close(h.free) }

func (h *holder) close() error {
	err := h.server.Close()
	if e := h.serving.Wait(); !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}
