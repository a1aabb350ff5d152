package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// maxLine bounds one line of the event stream: an event's message is a sentence.
	maxLine = 1 << 20
	// streamSilence is how long a stream may say nothing: the server sends a heartbeat
	// every 15 s, so three of them are missing.
	streamSilence = 45 * time.Second
	// rewatchFirst to rewatchMost is how long Wait pauses before it opens a stream again.
	rewatchFirst = 50 * time.Millisecond
	rewatchMost  = 2 * time.Second
)

// ReadLog copies an attempt's output to w, from its beginning. With follow it goes on
// until the attempt is over. Stream is stdout, stderr, or "" for both as they came.
func (c *Client) ReadLog(ctx context.Context, w io.Writer, id, task string, attempt int, stream string, follow bool) error {
	q := url.Values{}
	if stream != "" {
		q.Set("stream", stream)
	}
	in := call{
		method: http.MethodGet, path: []string{"instances", id, "tasks", task, "attempts", strconv.Itoa(attempt), "log"},
		query: q, header: http.Header{"Accept": {"text/plain"}},
	}
	if follow {
		q.Set("follow", "true")
		_, err := c.copyLog(ctx, w, in)
		return err
	}
	for offset := int64(0); ; {
		q.Set("offset", strconv.FormatInt(offset, 10))
		q.Set("limit", strconv.Itoa(1<<20))
		window, err := c.copyLog(ctx, w, in)
		if err != nil {
			return err
		}
		offset = window.next
		if window.size <= offset || window.copied == 0 {
			return nil
		}
	}
}

// window is what one answer held of a log.
type window struct{ next, size, copied int64 }

// copyLog copies one answer's text and tells where the next one begins.
func (c *Client) copyLog(ctx context.Context, w io.Writer, in call) (window, error) {
	resp, err := c.open(ctx, in)
	if err != nil {
		return window{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	n, err := io.Copy(w, resp.Body)
	if err != nil {
		return window{}, fmt.Errorf("read the log: %w", err)
	}
	begin, _ := strconv.ParseInt(resp.Header.Get("X-Log-Offset"), 10, 64)
	size, _ := strconv.ParseInt(resp.Header.Get("X-Log-Size"), 10, 64)
	return window{next: begin + n, size: size, copied: n}, nil
}

// Update is one message about an instance: its state now (a snapshot), one event, or
// Lagged where events may have been missed and the caller must read again.
type Update struct {
	Snapshot *Instance
	Event    *Event
	Lagged   bool
}

// Watch yields what happens to an instance until yield returns an error, the stream
// breaks or ctx ends. It begins with a snapshot.
func (c *Client) Watch(ctx context.Context, id string, yield func(Update) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	resp, err := c.open(ctx, call{
		method: http.MethodGet, path: []string{"stream"}, query: url.Values{"topics": {"instance:" + id}},
		header: http.Header{"Accept": {"text/event-stream"}},
	})
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	silent := time.AfterFunc(streamSilence, func() { cancel(errors.New("the event stream is silent")) })
	defer silent.Stop()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	kind, data := "", ""
	for lines.Scan() {
		silent.Reset(streamSilence)
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "event: "):
			kind = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			data = line[len("data: "):]
		case line == "" && kind != "":
			if err := tell(kind, data, yield); err != nil {
				return err
			}
			kind, data = "", ""
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: read the event stream: %w", ErrUnreachable, err)
	}
	return fmt.Errorf("%w: the event stream ended", ErrUnreachable)
}

// tell decodes one message; a kind that this client does not know is passed over.
func tell(kind, data string, yield func(Update) error) error {
	m := struct {
		Data json.RawMessage `json:"data"`
	}{}
	if err := json.Unmarshal([]byte(data), &m); err != nil {
		return fmt.Errorf("read the event stream: %w", err)
	}
	switch kind {
	case "snapshot":
		in := &Instance{}
		if err := json.Unmarshal(m.Data, in); err != nil {
			return fmt.Errorf("read a snapshot: %w", err)
		}
		return yield(Update{Snapshot: in})
	case "event":
		e := &Event{}
		if err := json.Unmarshal(m.Data, e); err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		return yield(Update{Event: e})
	case "lagged":
		return yield(Update{Lagged: true})
	}
	return nil
}

// errOver ends a watch because the instance is over.
var errOver = errors.New("the instance is over")

// Wait returns when the instance is over, telling seen (which may be nil) of every
// update on the way. A stream that breaks is opened again; the server may be restarted
// meanwhile. It gives up where the server refuses, or does not serve for the client's
// patience.
func (c *Client) Wait(ctx context.Context, id string, seen func(Update)) (Instance, error) {
	pause, away := rewatchFirst, time.Time{}
	for {
		var last Instance
		err := c.Watch(ctx, id, func(u Update) error {
			pause, away = rewatchFirst, time.Time{}
			if seen != nil {
				seen(u)
			}
			return c.over(ctx, id, u, &last)
		})
		var p *Problem
		switch {
		case errors.Is(err, errOver):
			return last, nil
		case ctx.Err() != nil:
			return last, ctx.Err()
		case errors.As(err, &p) && p.Status < http.StatusInternalServerError:
			return last, err
		case away.IsZero():
			away = time.Now()
		case time.Since(away) > c.patience:
			return last, fmt.Errorf("gave up after %s: %w", c.patience, err)
		}
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, rewatchMost)
	}
}

// over returns errOver, with the instance in last, when an update says so.
func (c *Client) over(ctx context.Context, id string, u Update, last *Instance) error {
	switch {
	case u.Snapshot != nil:
		*last = *u.Snapshot
	case u.Event != nil && u.Event.Task != "":
		return nil // a task's event: the instance's own comes when it ends
	default:
		var err error
		if *last, err = c.Instance(ctx, id); err != nil {
			return err
		}
	}
	if last.Over() {
		return errOver
	}
	return nil
}
