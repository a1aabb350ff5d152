package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/apiserver"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/sql"
)

const (
	// awaitFirst to awaitMost is the pause between two tries of what is away: after a power cut everything
	// comes back in any order, within seconds or within the time of a file system check.
	awaitFirst = 100 * time.Millisecond
	awaitMost  = 2 * time.Second
	// awaitTold is how often the log says that it is still waited for.
	awaitTold = 5 * time.Second
	// awaitTry bounds one try: a host that is off gives no answer at all.
	awaitTry = 10 * time.Second
)

// await tries until it is done. What will not pass by itself, such as a wrong password, ends it at once.
func (p *parts) await(ctx context.Context, what string, try func(ctx context.Context) error) error {
	began, told := time.Now(), time.Time{}
	for wait := awaitFirst; ; wait = min(2*wait, awaitMost) {
		err := try(ctx)
		switch {
		case err == nil:
			p.waiting.say("it starts")
			if !told.IsZero() {
				p.log.Info("it answers", "what", what, "waited", time.Since(began).Round(time.Millisecond).String())
			}
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !passing(err):
			return err
		}
		p.waiting.say("waiting for " + what)
		if time.Since(told) >= awaitTold {
			told = time.Now()
			p.log.Warn("waiting for what does not answer", "what", what, "since", time.Since(began).Round(time.Second).String(), "error", err)
		}
		if pause(ctx, wait); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// passing says that an error is of something that is away, and may come back.
func passing(err error) bool {
	return errors.Is(err, sql.ErrUnavailable) || errors.Is(err, registry.ErrUnavailable) && !errors.Is(err, registry.ErrDenied)
}

// waiting serves HTTP for as long as the API can't.
type waiting struct {
	face   *apiserver.Waiting
	server *http.Server
	served chan error
	lent   lentListener
}

// serveWaiting answers on a port that startHTTP will serve.
func (p *parts) serveWaiting(listener net.Listener, w web) error {
	tcp, ok := listener.(*net.TCPListener)
	if !ok {
		return fmt.Errorf("http: %s is no TCP port", listener.Addr())
	}
	face := apiserver.NewWaiting(w.BasePath)
	s := &waiting{face: face, server: apiserver.NewHTTPServer(face, apiserver.HTTPConfig{Address: w.HTTP}), served: make(chan error, 1), lent: lentListener{tcp}}
	s.server.ErrorLog = p.log.Named("http").StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug})
	// A role that is stopped at once ends it, and so forgets the server, before this goroutine has begun.
	server := s.server
	go func() {
		if w.TLSCert != "" {
			s.served <- server.ServeTLS(s.lent, w.TLSCert, w.TLSKey)
			return
		}
		s.served <- server.Serve(s.lent)
	}()
	p.waiting = s
	p.closing("waiting http", func() error { return s.end() })
	return nil
}

// say tells who asks what is waited for.
func (s *waiting) say(why string) {
	if s != nil && s.face != nil {
		s.face.For(why)
	}
}

// end gives the port back. It may be called twice.
func (s *waiting) end() error {
	if s == nil || s.server == nil {
		return nil
	}
	down, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.server.Shutdown(down) != nil {
		_ = s.server.Close() // its answers are not worth the wait
	}
	s.server = nil
	if err := <-s.served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return s.lent.SetDeadline(time.Time{})
}

// lentListener is a port that its user does not close.
type lentListener struct{ *net.TCPListener }

// Close makes Accept return and leaves the port open.
func (l lentListener) Close() error { return l.SetDeadline(time.Unix(1, 0)) }
