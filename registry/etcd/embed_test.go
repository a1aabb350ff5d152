package etcd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/zap"

	"github.com/porpoise/porpoise/registry"
)

// childDir is the environment variable that turns the test binary into a process with
// an embedded server, to be killed.
const childDir = "PORPOISE_TEST_EMBED_DIR"

// child runs an embedded server with a member and some keys, and waits for its end.
func child(dir string) {
	err := func() error {
		ctx := context.Background()
		e, err := Embed(ctx, EmbedConfig{Dir: dir})
		if err != nil {
			return err
		}
		r, err := New(e.Client(), "c", nil)
		if err != nil {
			return err
		}
		if _, err := r.Join(ctx, testMember(registry.Master, "m1"), time.Minute); err != nil {
			return err
		}
		for i := range 500 {
			if _, err := r.Put(ctx, fmt.Sprintf("k/%d", i), bytes.Repeat([]byte{'x'}, 1000), registry.If{}); err != nil {
				return err
			}
		}
		return nil
	}()
	fmt.Println("ready", err)
	select {}
}

// Requirement design 3: after kill -9 the next start finds its data, serves within
// half a second, and takes its own node over instead of waiting for the old lease.
func TestRestartAfterKillIsQuickAndTakesOver(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "etcd")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "ready <nil>\n" {
		t.Fatalf("child said %q, %v, %s", line, err, stderr.String())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // it was killed
	if stderr.Len() > 0 {
		t.Errorf("the child wrote to stderr: %s", stderr.String())
	}

	started := time.Now()
	e := embedded(t, EmbedConfig{Dir: dir})
	r := open(t, e.Client(), "c")
	ready := time.Since(started)
	heir := testMember(registry.Master, "m1")
	heir.Incarnation, heir.Takeover = "m1-2", true
	s := join(t, r, heir, time.Minute)
	joined := time.Since(started)
	t.Logf("ready after %v, joined after %v", ready, joined)
	// How quick is bench's to say; waiting for the lease of the killed one would take a minute.
	if joined > 20*time.Second {
		t.Errorf("ready after %v and joined after %v", ready, joined)
	}
	l, err := r.List(limit(t), "k")
	if err != nil || len(l.Entries) != 500 {
		t.Errorf("after the kill there are %d keys, %v, want 500", len(l.Entries), err)
	}
	leave(t, s)
}

func TestFirstStartIsQuickSmallAndQuiet(t *testing.T) {
	t.Parallel()
	var out lockedBuffer
	dir := filepath.Join(t.TempDir(), "etcd")
	log := hclog.New(&hclog.LoggerOptions{Level: hclog.Info, Output: &out})
	started := time.Now()
	e, err := Embed(limit(t), EmbedConfig{Dir: dir, Listen: "127.0.0.1:0", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	ready := time.Since(started)
	t.Logf("ready after %v", ready)
	if ready > 300*time.Millisecond {
		t.Errorf("ready after %v, want 0.3 s", ready)
	}
	r := open(t, e.Client(), "c")
	leave(t, join(t, r, testMember(registry.Master, "m1"), 2*time.Second))
	// Somebody who listens must not make the end long or loud.
	views, err := open(t, connect(t, e.Addr()), "c").Watch(t.Context(), registry.Master)
	if err != nil {
		t.Fatal(err)
	}
	await(t, views, 0)
	if size := sizeOf(t, dir); size > 8<<20 {
		t.Errorf("the data folder has %d bytes, want 8 MiB at most", size)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the data folder is %v, %v, want mode 0700", info.Mode(), err)
	}
	stopping := time.Now()
	for range 2 {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(stopping); took > 20*time.Second {
		t.Errorf("Close took %v", took)
	}
	if out.String() != "" {
		t.Errorf("at level info it said:\n%s", out.String())
	}
}

func TestWarningsOfEtcdPass(t *testing.T) {
	t.Parallel()
	var out lockedBuffer
	log := zapLogger(hclog.New(&hclog.LoggerOptions{Level: hclog.Info, Output: &out, DisableTime: true}))
	log.With(zap.String("part", "raft")).Warn("slow disk", zap.String("took", "2s"))
	log.Info("chatter")
	log.Error("no space", zap.String("path", "/x"))
	want := "[WARN]  etcd: slow disk: part=raft took=2s\n[ERROR] etcd: no space: path=/x\n"
	if out.String() != want {
		t.Errorf("it said:\n%swant:\n%s", out.String(), want)
	}
}

func TestListenerBeyondLoopbackNeedsTLS(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"0.0.0.0:0":      "needs TLS",
		"[::]:0":         "needs TLS",
		"192.0.2.1:2379": "needs TLS",
		"localhost:2379": "IP address",
		"2379":           "IP address",
	} {
		_, err := Embed(limit(t), EmbedConfig{Dir: t.TempDir(), Listen: listen})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Embed on %s = %v, want an error with %q", listen, err, want)
		}
	}
}

func TestBusyPortIsAnError(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() // nothing came through it
	_, err = Embed(limit(t), EmbedConfig{Dir: t.TempDir(), Listen: taken.Addr().String()})
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("Embed on a busy port = %v", err)
	}
}

func TestUnixSocketServesOtherProcesses(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "pp") // a socket's path has 108 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) }) // a test's folder
	e := embedded(t, EmbedConfig{Dir: filepath.Join(dir, "etcd"), Listen: "unix:" + filepath.Join(dir, "s")})
	r := open(t, connect(t, e.Addr()), "c")
	leave(t, join(t, r, testMember(registry.Worker, "w1"), 2*time.Second))
}

// Requirement F25: a wiped etcd is noticed, told, and joined again.
func TestWipedServerIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e, err := Embed(limit(t), EmbedConfig{Dir: filepath.Join(dir, "1"), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	addr := e.Addr()
	r := open(t, connect(t, addr), "c")
	for i := range 50 {
		if _, err := r.Put(limit(t), "k", []byte{byte(i)}, registry.If{}); err != nil {
			t.Fatal(err)
		}
	}
	s := join(t, r, testMember(registry.Master, "m1"), 4*time.Second)
	views, err := r.Watch(t.Context(), registry.Master)
	if err != nil {
		t.Fatal(err)
	}
	await(t, views, 1)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	embedded(t, EmbedConfig{Dir: filepath.Join(dir, "2"), Listen: addr})
	if v := await(t, views, 0); !v.Wiped {
		t.Errorf("the view after the wipe = %+v, want it wiped", v)
	}
	select {
	case <-s.Lost():
	case <-limit(t).Done():
		t.Fatal("the session outlived its server's data")
	}
	if !errors.Is(s.Err(), registry.ErrSessionLost) {
		t.Errorf("Err = %v, want ErrSessionLost", s.Err())
	}
	leave(t, s)
	again := join(t, r, testMember(registry.Master, "m1"), 2*time.Second)
	if v := await(t, views, 1); v.Wiped {
		t.Error("the wipe was told twice")
	}
	leave(t, again)
}

func sizeOf(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			// As stored: the database file is long, but mostly a hole.
			bytes += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// lockedBuffer collects what several goroutines write.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
