package load

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// heardOf is the workflow of whose events the receiver hears: of the whole load they would be hundreds a second.
	heardOf = "ticked"
	// patience bounds how long a caller may take to send what it has to say.
	patience = 5 * time.Second
)

// receiver is whom the product calls: a timer of each second, and what tells of instances.
type receiver struct {
	url    string
	server *http.Server
	done   chan struct{}
	heard  struct{ timers, events atomic.Int64 }
}

// receive listens on a port of its choice. Nobody stands between it and the product: no fault is about it.
func receive(ctx context.Context) (*receiver, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for calls: %w", err)
	}
	r := &receiver{url: "http://" + l.Addr().String(), done: make(chan struct{})}
	mux := http.NewServeMux()
	for path, n := range map[string]*atomic.Int64{"/timer": &r.heard.timers, "/event": &r.heard.events} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, _ *http.Request) {
			n.Add(1)
			w.WriteHeader(http.StatusNoContent)
		})
	}
	r.server = &http.Server{Handler: mux, ReadTimeout: patience}
	go func() {
		defer close(r.done)
		_ = r.server.Serve(l) // until close ends it
	}()
	return r, nil
}

func (r *receiver) close() error {
	err := r.server.Close()
	<-r.done
	return err
}

// Close ends what is listened with. Nobody is heard from then on.
func (l *Load) Close() error { return l.receiver.close() }

// Heard counts the calls of timers and of what tells of instances.
func (l *Load) Heard() (timers, events int64) {
	return l.receiver.heard.timers.Load(), l.receiver.heard.events.Load()
}

// listen makes a timer of each second and a listener, both of which call the receiver.
func (l *Load) listen(ctx context.Context) error {
	listener := fmt.Sprintf(`{"url": "%s/event", "enabled": true, "filter": {"workflows": ["%s"]}}`, l.receiver.url, heardOf)
	if err := l.must(ctx, http.MethodPut, "/projects/"+project+"/listeners/heard", "application/json", listener); err != nil {
		return err
	}
	const timers = "/api/timer/v1"
	timer := fmt.Sprintf(`{"app": "%s", "name": "each second", "cron": "* * * * * *", "notifyHTTPParam": {"url": "%s/timer", "method": "POST", "body": "{}"}}`, project, l.receiver.url)
	made, err := l.patiently(ctx, http.MethodPost, timers+"/def", "application/json", timer)
	if err != nil {
		return err
	}
	var of struct{ ID int64 }
	if err := json.Unmarshal(made.body, &of); err != nil {
		return fmt.Errorf("make a timer: %s: %w", made.body, err)
	}
	return l.must(ctx, http.MethodPost, timers+"/enable", "application/json", fmt.Sprintf(`{"app": "%s", "id": "%d"}`, project, of.ID))
}
