package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// TestMain runs this binary as a runner process where a test launches it as one.
func TestMain(m *testing.M) {
	if dir := os.Getenv("TEST_RUNNER_DIR"); dir != "" {
		err := Main(context.Background(), Config{
			DataDir: dir, IdleFor: 20 * time.Second,
			Logger: hclog.New(&hclog.LoggerOptions{Output: os.Stderr, Level: hclog.Info}),
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const deadline = 20 * time.Second

// harness is a control process: a connection to a real runner process.
type harness struct {
	dropped int64 // of output, as told
	t       testing.TB
	dir     string
	client  *Client
	news    chan *News
	proc    *os.Process
	cancel  context.CancelFunc
	ended   chan struct{}
	over    error // what Run gave, once it has ended
	starts  map[string]*Started
	exits   map[string]*Exit
}

func launch(t testing.TB) *harness {
	t.Helper()
	h := &harness{t: t, dir: t.TempDir(), starts: map[string]*Started{}, exits: map[string]*Exit{}}
	h.connect()
	t.Cleanup(func() {
		h.detach()
		if h.proc != nil {
			_ = h.proc.Kill()
			_, _ = h.proc.Wait()
			if t.Failed() {
				said, _ := os.ReadFile(filepath.Join(h.dir, "runner.err"))
				t.Logf("the runner said: %s", said)
			}
		}
		if left := killLeftovers(h.markHead(), nil, ""); len(left) > 0 {
			t.Logf("left behind and killed: %v", left)
		}
	})
	return h
}

func (h *harness) markHead() string {
	id, _ := keptText(filepath.Join(h.dir, "runner.id"))
	return id + "."
}

// connect dials the runner, started if there is none, and takes what it says first.
func (h *harness) connect() *Attached {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	c, err := Dial(ctx, h.dir, Attachment{Incarnation: "test"})
	if err != nil {
		h.proc, err = Launch(h.dir, []string{os.Args[0]}, []string{"TEST_RUNNER_DIR=" + h.dir, "PATH=" + os.Getenv("PATH")})
		if err != nil {
			h.t.Fatal(err)
		}
		if c, err = Await(ctx, h.dir, Attachment{Incarnation: "test"}, h.proc); err != nil {
			h.t.Fatal(err)
		}
	}
	run, stop := context.WithCancel(context.Background())
	h.client, h.cancel, h.news, h.ended = c, stop, make(chan *News, 10000), make(chan struct{})
	news, ended := h.news, h.ended
	go func() {
		defer close(ended)
		h.over = c.Run(run, func(n *News) { news <- n })
	}()
	n := h.next()
	if n.Attached == nil {
		h.t.Fatalf("first news = %v, want attached", n)
	}
	return n.Attached
}

func (h *harness) detach() {
	h.cancel()
	<-h.ended
}

func (h *harness) next() *News {
	h.t.Helper()
	select {
	case n := <-h.news:
		return n
	case <-time.After(deadline):
		h.t.Fatal("no news from the runner")
		return nil
	}
}

var plainEnv = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", "LANG=C.UTF-8"}

func shell(n int64, script string) *Start {
	return &Start{
		Attempt: &Attempt{InstanceId: n, Task: 0, Number: 1, Token: fmt.Sprint("token", n), OwnerEpoch: 1},
		Mark:    fmt.Sprint("m", n), Argv: []string{"/bin/sh", "-c", script}, Env: plainEnv,
	}
}

func (h *harness) start(starts ...*Start) { h.client.Send(&Order{Starts: starts}) }

// exit waits for the end of one attempt.
func (h *harness) exit(mark string) *Exit {
	h.t.Helper()
	for h.exits[mark] == nil {
		h.note(h.next())
	}
	e := h.exits[mark]
	delete(h.exits, mark)
	return e
}

// born waits for the start of one attempt.
func (h *harness) born(mark string) *Started {
	h.t.Helper()
	for h.starts[mark] == nil {
		if e := h.exits[mark]; e != nil {
			h.t.Fatalf("attempt %s ended: %v", mark, e)
		}
		h.note(h.next())
	}
	return h.starts[mark]
}

func (h *harness) note(n *News) {
	h.dropped = max(h.dropped, n.DroppedBytes)
	for _, s := range n.Started {
		h.starts[s.Mark] = s
	}
	for _, e := range n.Exits {
		h.exits[e.Mark] = e
	}
}

func (h *harness) read(n int64, stream string, offset int64) *Text {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	text, err := h.client.Read(ctx, &Read{Attempt: &Attempt{InstanceId: n, Number: 1}, Stream: stream, Offset: offset})
	if err != nil {
		h.t.Fatal(err)
	}
	return text
}

// waitFor waits until done, looking often: what it waits for are other processes.
func waitFor(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !done(); {
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s", deadline, what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func alive(pid int) bool {
	p, ok := readProcess(pid)
	return ok && !p.zombie
}
