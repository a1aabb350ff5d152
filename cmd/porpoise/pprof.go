package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"runtime"
	"time"

	"github.com/porpoise/porpoise/sql"
)

const (
	// mutexFraction and blockRate are how much of waiting is sampled where profiles are served: one in ten, and what
	// takes about ten microseconds or more. Without the address nothing is.
	mutexFraction = 10
	blockRate     = 10_000
	pprofTimeout  = 10 * time.Second
)

// checkPprof refuses an address that others than this host's users could reach: profiles name files and functions, and
// taking one costs.
func checkPprof(address string) error {
	if address == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("pprof: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("pprof: %q is no loopback address", address)
	}
	return nil
}

// servePprof serves the profiles of this process, where an address is set.
func (a *app) servePprof(ctx context.Context, address string) error {
	if address == "" {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("pprof: %w", err)
	}
	runtime.SetMutexProfileFraction(mutexFraction)
	runtime.SetBlockProfileRate(blockRate)
	a.statements = sql.NewStatements()
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/statements", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(a.statements.List()) // who left gets nothing
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: pprofTimeout}
	a.run("pprof", pprofTimeout, func(ctx context.Context) error {
		defer context.AfterFunc(ctx, func() { _ = server.Close() })()
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return ctx.Err()
	})
	a.log.Info("profiles are served", "address", "http://"+listener.Addr().String()+"/debug/pprof/")
	return nil
}
