package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

func TestPartsStopInReverse(t *testing.T) {
	t.Parallel()
	a := newApp(hclog.NewNullLogger())
	var order []string
	for _, name := range []string{"database", "registry", "worker"} {
		a.closing(name, func() error { order = append(order, name); return nil })
	}
	if err := a.stop(nil); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(order, []string{"worker", "registry", "database"}) {
		t.Errorf("order = %v", order)
	}
}

func TestAPartThatEndsEndsTheProcess(t *testing.T) {
	t.Parallel()
	a := newApp(hclog.NewNullLogger())
	a.run("steady", time.Second, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	a.run("broken", time.Second, func(context.Context) error { return errors.New("out of luck") })
	if err := a.wait(nil); err == nil || err.Error() != "broken: out of luck" {
		t.Errorf("wait = %v", err)
	}
	if err := a.stop(nil); err == nil || !strings.Contains(err.Error(), "stop broken") || strings.Contains(err.Error(), "steady") {
		t.Errorf("stop = %v", err)
	}
}

func TestAPartThatDoesNotStopIsLeftBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newApp(hclog.NewNullLogger())
		release := make(chan struct{})
		stopped := false
		a.closing("first", func() error { stopped = true; return nil })
		a.run("deaf", 3*time.Second, func(context.Context) error { <-release; return nil })
		began := time.Now()
		err := a.stop(nil)
		if err == nil || !strings.Contains(err.Error(), "stop deaf") || !stopped {
			t.Errorf("stop = %v, the first part stopped: %t", err, stopped)
		}
		if took := time.Since(began); took < 3*time.Second || took > 4*time.Second {
			t.Errorf("it took %s, want the part's 3 s", took)
		}
		close(release)
		synctest.Wait()
	})
}

func TestASecondSignalEndsThePatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newApp(hclog.NewNullLogger())
		release := make(chan struct{})
		a.run("slow", time.Hour, func(context.Context) error { <-release; return nil })
		signals := make(chan os.Signal, 2)
		signals <- syscall.SIGINT
		if err := a.wait(signals); err != nil {
			t.Errorf("wait = %v", err)
		}
		signals <- syscall.SIGINT
		began := time.Now()
		if err := a.stop(signals); err == nil {
			t.Error("a part that was left behind is no error")
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %s", took)
		}
		close(release)
		synctest.Wait()
	})
}
