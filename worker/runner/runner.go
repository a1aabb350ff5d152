package runner

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sys/unix"

	"github.com/porpoise/porpoise/worker/tasklog"
)

// Config is what a runner is told. The zero value of all but DataDir is a sane choice.
type Config struct {
	DataDir  string
	IdleFor  time.Duration // without a task and without a worker it ends after this; 0: 5 min, negative: never
	LogBytes int64         // bound of all kept output; 0: 4 GiB
	LogAge   time.Duration // 0: 14 days
	Logger   hclog.Logger
}

// ErrRunning is returned where another runner serves the data folder.
var ErrRunning = errors.New("another runner serves this data folder")

// Runner holds what the loop, the spawners and the hunter share.
type Runner struct {
	cfg      Config
	log      hclog.Logger
	boot     string
	sid      int // session of this process
	markHead string
	secret   string

	store   *tasklog.Store
	ledger  *ledger // the loop's
	spawner *spawner
	inbox   inbox
	epollFD int
	spawns  chan *task
	hunter  chan huntOrder
	left    map[string][]int32 // the loop's: what the last hunt found alive
	refused atomic.Int64       // connections

	mu     sync.Mutex // guards what follows; the loop alone writes tasks
	tasks  map[string]*task
	byID   map[uint64]*task
	nextID uint64 // the loop's
	talks  map[*session]bool
}

// Main serves a data folder until its worker says so, nobody has needed it for
// Config.IdleFor, or ctx ends or TERM comes: then the tasks are ended and given back.
// It returns ErrRunning if another runner is there.
func Main(ctx context.Context, cfg Config) error {
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	if cfg.IdleFor == 0 {
		cfg.IdleFor = 5 * time.Minute
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("make data folder: %w", err)
	}
	lock, err := lockFile(filepath.Join(cfg.DataDir, "runner.lock"))
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	r := &Runner{
		cfg: cfg, log: cfg.Logger.Named("runner"), boot: bootID(),
		spawns: make(chan *task, maxTasks+1), hunter: make(chan huntOrder, 1),
		tasks: map[string]*task{}, byID: map[uint64]*task{}, nextID: 1, talks: map[*session]bool{},
	}
	r.sid, _ = unix.Getsid(0)
	if err := r.prepare(); err != nil {
		return err
	}
	return r.serve(ctx)
}

func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, ErrRunning
	}
	return file, nil
}

// prepare sets what tasks inherit, opens the files and ends what an earlier runner left.
func (r *Runner) prepare() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	// What this process was given open by whoever started it is not for the tasks.
	_ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	// Tasks run as this user, so a stricter mask would protect them from nobody.
	unix.Umask(0o022)
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	Shield()
	dir := r.cfg.DataDir
	home, err := keptText(filepath.Join(dir, "runner.id"))
	if err != nil {
		return err
	}
	r.markHead = home + "."
	if r.secret, err = keptText(filepath.Join(dir, "runner.secret")); err != nil {
		return err
	}
	r.spawner = &spawner{empty: filepath.Join(dir, "empty"), outputs: filepath.Join(dir, "outputs"), markHead: r.markHead}
	for path, mode := range map[string]os.FileMode{r.spawner.empty: 0o555, r.spawner.outputs: 0o700} {
		if err := os.Mkdir(path, mode); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("make folder: %w", err)
		}
	}
	if r.spawner.null, err = unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	if r.spawner.outputs, err = filepath.Abs(r.spawner.outputs); err != nil {
		return fmt.Errorf("find data folder: %w", err)
	}
	r.store, err = tasklog.Open(tasklog.Config{
		Dir: filepath.Join(dir, "output"), MaxBytes: r.cfg.LogBytes, MaxAge: r.cfg.LogAge, Logger: r.log,
	})
	if err != nil {
		return err
	}
	if r.ledger, err = openLedger(dir); err != nil {
		return err
	}
	return r.settle()
}

// settle ends the attempts that an earlier runner left without an end.
func (r *Runner) settle() error {
	if killed := killLeftovers(r.markHead, r.ledger.live, r.boot); len(killed) > 0 {
		r.log.Warn("processes of an earlier runner killed", "pids", killed)
	}
	now := time.Now().UnixMilli()
	for mark, line := range r.ledger.live {
		if line.exit != nil {
			continue
		}
		e := &Exit{
			Mark: mark, Attempt: line.accepted.GetAttempt(), State: "failed", Reason: "runner_lost", FinishedAt: now,
			Message: "the runner ended without a word; what the task had started was killed",
		}
		e.StartedAt = now
		if line.born != nil {
			e.StartedAt = line.born.StartedAt
		}
		if text, err := r.store.Read(keyOf(e.Attempt), tasklog.Query{Stream: tasklog.Both, Offset: -tasklog.TailBytes}); err == nil {
			e.Tail, e.LogBytes = text.Data, text.Size
		}
		if err := r.ledger.add(&Entry{Exit: e}); err != nil {
			return err
		}
	}
	return r.ledger.write()
}

// serve runs all parts and ends them in reverse.
func (r *Runner) serve(ctx context.Context) error {
	l, err := r.newLoop()
	if err != nil {
		return err
	}
	listener, dir, err := r.listen()
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	// Notify, not ignore: what is ignored stays ignored in the tasks.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(ctx)

	var parts sync.WaitGroup
	parts.Go(func() { _ = r.ledger.file.Run(ctx) })
	parts.Go(func() { r.acceptAll(listener) })
	parts.Go(func() { (&hunter{Runner: r}).run() })
	parts.Go(func() { r.housekeep(ctx) })
	var spawners sync.WaitGroup
	for range max(2, 2*runtime.GOMAXPROCS(0)) {
		spawners.Go(r.spawnAll)
	}
	parts.Go(func() {
		for {
			select {
			case <-ctx.Done():
			case s := <-signals:
				if s != syscall.SIGTERM && s != syscall.SIGINT {
					continue
				}
			}
			r.inbox.put(func() { r.inbox.orders = append(r.inbox.orders, order{leave: true}) })
			return
		}
	})
	err = l.run()
	close(r.spawns)
	spawners.Wait()
	close(r.hunter)
	_ = listener.Close()
	r.closeSessions()
	cancel()
	parts.Wait()
	return errors.Join(err, r.store.Close(), r.ledger.file.Close(), l.epoll.Close())
}

func (r *Runner) newLoop() (*loop, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make epoll set: %w", err)
	}
	_ = unix.SetNonblock(epoll, true)
	if r.inbox.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, fmt.Errorf("make eventfd: %w", err)
	}
	ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: watchWake}
	if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, r.inbox.wake, &ev); err != nil {
		return nil, fmt.Errorf("watch eventfd: %w", err)
	}
	r.epollFD = epoll
	return &loop{
		Runner: r, epoll: os.NewFile(uintptr(epoll), "epoll"), buf: make([]byte, 64<<10),
		news: &News{}, foreign: map[tasklog.Key]*tasklog.Log{},
	}, nil
}

// housekeep deletes old output.
func (r *Runner) housekeep(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			r.store.Prune(now)
		}
	}
}

// keptText reads a random text that is made once, in a file that only its owner reads.
func keptText(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err == nil && len(data) > 0 {
		return strings.TrimSpace(string(data)), nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	var random [16]byte
	_, _ = rand.Read(random[:])
	text := hex.EncodeToString(random[:])
	next := path + ".new"
	if err := os.WriteFile(next, []byte(text+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(next, path); err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	return text, nil
}

// listen opens the socket; the folder stays open because its address goes through it.
func (r *Runner) listen() (*net.UnixListener, *os.File, error) {
	dir, err := os.Open(r.cfg.DataDir)
	if err != nil {
		return nil, nil, fmt.Errorf("listen: %w", err)
	}
	path := socketIn(dir)
	_ = os.Remove(path)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err == nil {
		listener.SetUnlinkOnClose(false)
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		_ = dir.Close()
		return nil, nil, fmt.Errorf("listen: %w", err)
	}
	return listener, dir, nil
}
