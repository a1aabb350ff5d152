package site

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

const (
	// readyTimeout bounds a start: a loaded machine with a cold disk needs seconds.
	readyTimeout = 60 * time.Second
	// readyEvery is how often a start is asked whether it is ready. It is part of every
	// measured start, so it is short.
	readyEvery = 2 * time.Millisecond
	// stopTimeout is how long a part gets between SIGTERM and SIGKILL: a worker drains.
	stopTimeout = 15 * time.Second
)

// Options say how a site is run.
type Options struct {
	Binary string // the porpoise binary, as Build gives it
	Slots  int    // of every worker; 0 leaves it to the product
	// Database is the MySQL or MariaDB server of a cluster, as a DSN without a database,
	// such as root@tcp(127.0.0.1:3306)/, or SQLite for a file that all parts share. Without
	// one scripts/mariadb starts a server.
	Database string
	// Masters and Workers count a cluster's parts; 0 is as many as the compose file has.
	Masters, Workers int
	LogLevel         string // of the product; "" is warn
	// Examples lets a standalone node have its examples and run two of them, as it does by
	// default; what is measured or tested starts empty.
	Examples bool
	// Flags go behind those that a role has, by role, such as standalone.
	Flags map[string][]string
}

// SQLite as the database of a cluster is one file for all its parts.
const SQLite = "sqlite"

// Site is a running installation. Its methods are for one goroutine at a time, except
// Client's.
type Site struct {
	URL    string // of the first apiserver
	Token  string // of the admin
	Client *client.Client
	DSN    string    // of a cluster's database, as its roles have it
	Parts  []*Part   // in the order in which they were started
	Began  time.Time // when it, or a part of it again, was started
	Dir    string    // of its data and logs; deleted by Stop

	cleanup []func(context.Context) error // after the parts are down, the last first
}

// newSite makes the folder of a site.
func newSite() (*Site, error) {
	dir, err := os.MkdirTemp("", "porpoise-site.")
	if err != nil {
		return nil, fmt.Errorf("make the site's folder: %w", err)
	}
	return &Site{Dir: dir}, nil
}

// Standalone starts porpoise standalone on an empty data folder and returns when it is
// ready. The caller ends it with Stop.
func Standalone(ctx context.Context, o Options) (*Site, error) {
	s, err := newSite()
	if err != nil {
		return nil, err
	}
	return s, s.orStop(s.standalone(ctx, o))
}

func (s *Site) standalone(ctx context.Context, o Options) error {
	address, err := FreeAddress(ctx)
	if err != nil {
		return err
	}
	data := filepath.Join(s.Dir, "standalone")
	args := append([]string{"standalone", "--data", data, "--http", address, fmt.Sprintf("--examples=%t", o.Examples)}, o.flags("standalone")...)
	s.Began = time.Now()
	if _, err := s.Start(ctx, "standalone", o.Binary, args...); err != nil {
		return err
	}
	return s.ready(ctx, address, filepath.Join(data, "admin-token"))
}

// flags are what the options add to a role's flags.
func (o Options) flags(role string) []string {
	level := o.LogLevel
	if level == "" {
		level = "warn"
	}
	flags := []string{"--log-level", level}
	if o.Slots > 0 && (role == "standalone" || role == "worker") {
		flags = append(flags, "--slots", fmt.Sprint(o.Slots))
	}
	return append(flags, o.Flags[role]...)
}

// ready waits until the apiserver at the address serves, then reads the admin's token.
func (s *Site) ready(ctx context.Context, address, tokenFile string) error {
	s.URL = "http://" + address
	anyone, err := client.New(client.Config{Server: s.URL, Agent: "porpoise-bench"})
	if err != nil {
		return err
	}
	if err := s.Until(ctx, "ready", func() error { return anyone.Ready(ctx) }); err != nil {
		return err
	}
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return fmt.Errorf("read the admin's token: %w", err)
	}
	s.Token = strings.TrimSpace(string(token))
	s.Client, err = client.New(client.Config{Server: s.URL, Token: s.Token, Agent: "porpoise-bench"})
	return err
}

// Until repeats a check until it holds. A part that ends meanwhile, other than by Kill,
// ends the wait, with the last lines of its log.
func (s *Site) Until(ctx context.Context, what string, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		for _, p := range s.Parts {
			if p.ended() && !p.killed {
				return fmt.Errorf("wait until %s: %s ended (%w):\n%s", what, p.Name, errors.Join(p.end.err, err), p.Tail())
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until %s: %w (the last answer: %w)\n%s", what, ctx.Err(), err, s.tails())
		case <-tick.C:
		}
	}
}

// tails are the last lines of every part's log.
func (s *Site) tails() string {
	var b strings.Builder
	for _, p := range s.Parts {
		fmt.Fprintf(&b, "--- %s\n%s", p.Name, p.Tail())
	}
	return b.String()
}

// Part finds a part by its name, such as worker-2; nil where there is none.
func (s *Site) Part(name string) *Part {
	i := slices.IndexFunc(s.Parts, func(p *Part) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return s.Parts[i]
}

// orStop takes down what is up when a start has failed.
func (s *Site) orStop(err error) error {
	if err == nil {
		return nil
	}
	return errors.Join(err, s.Stop())
}

// Stop ends every part, the last one first, then whatever it left running, and deletes
// the folder. It may be called twice.
func (s *Site) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), 4*stopTimeout)
	defer cancel()
	var wrong []error
	for _, p := range slices.Backward(s.Parts) {
		wrong = append(wrong, p.Stop())
	}
	s.Parts = nil
	wrong = append(wrong, s.sweep())
	for _, f := range slices.Backward(s.cleanup) {
		wrong = append(wrong, f(ctx))
	}
	s.cleanup = nil
	return errors.Join(append(wrong, os.RemoveAll(s.Dir))...)
}

// Ports below those that systems give to who asks for any, such as a client's end of each connection: one of those that was
// free a moment ago may be anybody's by the time that a part wants it.
const firstPort, ports = 10_000, 10_000

// FreeAddress goes round them, from a place of this process's own.
var (
	ownPort  = rand.Uint32N(ports)
	nextPort atomic.Uint32
)

// FreeAddress finds a loopback port that nobody listens on, and that it has not given lately. Another process may take it
// before ours does; then the start fails and says so.
func FreeAddress(ctx context.Context) (string, error) {
	var config net.ListenConfig
	var err error
	for range ports {
		var l net.Listener
		if l, err = config.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", firstPort+(ownPort+nextPort.Add(1))%ports)); err == nil {
			return l.Addr().String(), l.Close()
		}
	}
	return "", fmt.Errorf("find a free port: %w", err)
}
