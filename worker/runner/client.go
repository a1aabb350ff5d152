package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrGone is returned when the runner's connection has ended.
var ErrGone = errors.New("the runner is gone")

// Client is a control process's connection to its runner. All methods may be called
// from several goroutines.
type Client struct {
	conn net.Conn
	out  *pipe
	done chan struct{}
	quit atomic.Bool // the process was told to end

	mu      sync.Mutex // guards what follows
	nextID  int64
	waiting map[int64]chan *Text
}

// Attachment is how a control process shows itself.
type Attachment struct {
	Incarnation string
	Until       time.Duration // of CLOCK_BOOTTIME: deadlines beyond it become it; 0: they stay
}

// Dial connects to the runner of a data folder. The first News that Run hands on answers
// the connection itself and lists what is alive.
func Dial(ctx context.Context, dataDir string, as Attachment) (*Client, error) {
	secret, err := os.ReadFile(filepath.Join(dataDir, "runner.secret"))
	if err != nil {
		return nil, fmt.Errorf("dial runner: %w", err)
	}
	dir, err := os.Open(dataDir)
	if err != nil {
		return nil, fmt.Errorf("dial runner: %w", err)
	}
	defer func() { _ = dir.Close() }()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socketIn(dir))
	if err != nil {
		return nil, fmt.Errorf("dial runner: %w", err)
	}
	if err := sameUser(conn.(*net.UnixConn)); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("dial runner: %w", err)
	}
	c := &Client{conn: conn, out: newPipe(conn), done: make(chan struct{}), waiting: map[int64]chan *Text{}}
	c.out.add(&Order{Attach: &Attach{Secret: strings.TrimSpace(string(secret)), Incarnation: as.Incarnation, Until: as.Until.Nanoseconds()}})
	return c, nil
}

// Run hands news to handle, one at a time, until ctx or the connection ends; the end of
// a process that was told to quit is no error. When ctx ends, what was sent goes out
// before the connection is closed.
func (c *Client) Run(ctx context.Context, handle func(*News)) error {
	var parts sync.WaitGroup
	defer parts.Wait()
	end := sync.OnceFunc(func() { close(c.done) })
	stop := context.AfterFunc(ctx, end)
	defer stop()
	parts.Go(func() {
		_ = c.out.run(c.done)
		_ = c.conn.Close()
	})
	defer end()
	in := bufio.NewReaderSize(c.conn, 256<<10)
	var buf []byte
	for {
		n := &News{}
		var err error
		if buf, err = readFrame(in, buf, maxFrame, n); err != nil {
			if ctx.Err() != nil || c.quit.Load() {
				return nil
			}
			return fmt.Errorf("%w: %w", ErrGone, err)
		}
		c.answer(n.Texts)
		n.Texts = nil
		if n.Attached != nil || len(n.Started) > 0 || len(n.Exits) > 0 || len(n.Stuck) > 0 || n.DroppedBytes > 0 || n.Refused > 0 {
			handle(n)
		}
	}
}

func (c *Client) answer(texts []*Text) {
	if len(texts) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range texts {
		if ch := c.waiting[t.Id]; ch != nil {
			delete(c.waiting, t.Id)
			ch <- t
		}
	}
}

// Send passes an order on; it is lost if the connection ends. The order is not to be
// touched after.
func (c *Client) Send(o *Order) {
	if o.Quit {
		c.quit.Store(true)
	}
	c.out.add(o)
}

// Read asks for a window of an attempt's output.
func (c *Client) Read(ctx context.Context, q *Read) (*Text, error) {
	ch := make(chan *Text, 1)
	c.mu.Lock()
	c.nextID++
	id := c.nextID
	c.waiting[id] = ch
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()
	c.out.add(&Order{Reads: []*Read{{
		Id: id, Attempt: q.Attempt, Stream: q.Stream, Offset: q.Offset, Limit: q.Limit, Line: q.Line, Lines: q.Lines,
	}}})
	select {
	case t := <-ch:
		return t, nil
	case <-c.done:
		return nil, ErrGone
	case <-ctx.Done():
		return nil, fmt.Errorf("read output: %w", ctx.Err())
	}
}

// Launch starts a runner process in a session of its own, with nothing of this process
// but its user. What it writes goes to runner.err in the data folder.
func Launch(dataDir string, command []string, env []string) (*os.Process, error) {
	errors, err := os.OpenFile(filepath.Join(dataDir, "runner.err"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("launch runner: %w", err)
	}
	defer func() { _ = errors.Close() }()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, errors, errors
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("launch runner: %w", err)
	}
	return cmd.Process, nil
}

// Await dials until a runner answers or the process that was launched has ended.
func Await(ctx context.Context, dataDir string, as Attachment, launched *os.Process) (*Client, error) {
	for {
		c, err := Dial(ctx, dataDir, as)
		if err == nil {
			return c, nil
		}
		if pid, _ := unix.Wait4(launched.Pid, nil, unix.WNOHANG, nil); pid == launched.Pid {
			said, _ := os.ReadFile(filepath.Join(dataDir, "runner.err"))
			return nil, fmt.Errorf("launch runner: it ended at once: %s", strings.TrimSpace(string(said)))
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("launch runner: %w", ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}
