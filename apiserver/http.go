package apiserver

import (
	"context"
	"net"
	"net/http"
	"time"
)

const (
	readHeaderTimeout = 5 * time.Second
	idleTimeout       = 120 * time.Second
	maxHeaderBytes    = 16 << 10
	// maxURL is how long a request's target may be.
	maxURL = 8 << 10
)

// HTTPConfig is what NewHTTPServer needs beside the handler. Base ends all requests
// that stream when it ends, so that Shutdown need not wait for them.
type HTTPConfig struct {
	Address string
	Base    context.Context
}

// NewHTTPServer returns a server with the limits that keep slow or endless clients from
// holding it. There is no WriteTimeout: streams write for hours; handlers have their
// own deadline instead, and bodies are read under one.
func NewHTTPServer(handler http.Handler, cfg HTTPConfig) *http.Server {
	srv := &http.Server{
		Addr:              cfg.Address,
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		// net/http adds 4 KiB of slack to what is configured.
		MaxHeaderBytes: maxHeaderBytes - 4096,
	}
	if cfg.Base != nil {
		srv.BaseContext = func(net.Listener) context.Context { return cfg.Base }
	}
	return srv
}
