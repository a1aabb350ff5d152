package proxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// echo answers every line with itself.
func echo(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); c.Close() }()
		}
	}()
	return l.Addr().String()
}

func link(t *testing.T, who func(net.Addr) string) *Link {
	t.Helper()
	l, err := Listen(t.Context(), echo(t), who)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

type client struct {
	net.Conn
	in *bufio.Reader
}

func dial(t *testing.T, l *Link) *client {
	t.Helper()
	c, err := net.Dial("tcp", l.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &client{c, bufio.NewReader(c)}
}

// say sends a line and waits for its echo.
func (c *client) say(line string, patience time.Duration) error {
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		return err
	}
	return c.hear(line, patience)
}

func (c *client) hear(line string, patience time.Duration) error {
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	got, err := c.in.ReadString('\n')
	if err == nil && strings.TrimSpace(got) != line {
		return errors.New("heard " + got)
	}
	return err
}

const (
	patience = 5 * time.Second
	moment   = 100 * time.Millisecond
)

func TestACutResetsWhatIsOpenAndRefusesWhatComes(t *testing.T) {
	t.Parallel()
	l := link(t, nil)
	c := dial(t, l)
	if err := c.say("before", patience); err != nil {
		t.Fatal(err)
	}
	l.Set(Fault{Kind: Cut})
	if err := c.hear("x", patience); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("an open connection: %v, want its end", err)
	}
	if fresh, err := net.Dial("tcp", l.Address); err == nil { // or it is refused at once
		t.Cleanup(func() { fresh.Close() })
		if err := (&client{fresh, bufio.NewReader(fresh)}).say("new", patience); err == nil {
			t.Error("a new connection passes")
		}
	}
	l.Set(Fault{})
	if err := dial(t, l).say("after", patience); err != nil {
		t.Errorf("after the cut: %v", err)
	}
}

func TestAHoleHoldsWhatIsSentUntilItsEnd(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{Hole, HoleUp, HoleDown} {
		l := link(t, nil)
		c := dial(t, l)
		if err := c.say("before", patience); err != nil {
			t.Fatal(err)
		}
		l.Set(Fault{Kind: kind})
		if err := c.say("held", moment); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %v, want silence", kind, err)
		}
		l.Set(Fault{})
		if err := c.hear("held", patience); err != nil {
			t.Errorf("%s, after its end: %v", kind, err)
		}
	}
}

func TestADelayIsServedOnceEachWay(t *testing.T) {
	t.Parallel()
	l := link(t, nil)
	l.Set(Fault{Kind: Delay, Delay: moment})
	c := dial(t, l)
	begin := time.Now()
	if err := c.say("slow", patience); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 2*moment {
		t.Errorf("there and back took %s", took)
	}
}

func TestACommitIsCutBeforeOrAfterItArrives(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{CommitBefore, CommitAfter} {
		l := link(t, nil)
		l.Set(Fault{Kind: kind})
		c := dial(t, l)
		if err := c.say("SELECT", patience); err != nil {
			t.Fatalf("%s: another statement: %v", kind, err)
		}
		if err := c.say("COMMIT", patience); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: the COMMIT: %v, want the connection's end", kind, err)
		}
		if l.Commits() != 1 {
			t.Errorf("%s: %d commits were cut", kind, l.Commits())
		}
	}
}

func TestAFaultOfOneProcessSparesTheOthers(t *testing.T) {
	t.Parallel()
	names := make(chan string, 2)
	l := link(t, func(net.Addr) string { return <-names })
	names <- "worker-1"
	first := dial(t, l)
	if err := first.say("hello", patience); err != nil {
		t.Fatal(err)
	}
	names <- "worker-2"
	second := dial(t, l)
	if err := second.say("hello", patience); err != nil {
		t.Fatal(err)
	}
	l.Set(Fault{Kind: Hole, From: "worker-1"})
	if err := first.say("held", moment); err == nil {
		t.Error("worker-1 passes")
	}
	if err := second.say("free", patience); err != nil {
		t.Errorf("worker-2: %v", err)
	}
}

func TestAConnectionsProcessIsFound(t *testing.T) {
	t.Parallel()
	found := make(chan string, 1)
	l := link(t, func(a net.Addr) string {
		name := Owner(a, map[string]int{"nobody": 1 << 30, "me": os.Getpid()})
		found <- name
		return name
	})
	_ = dial(t, l).say("hello", patience)
	if got := <-found; got != "me" {
		t.Errorf("the owner is %q", got)
	}
}
