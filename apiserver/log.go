package apiserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humamux"

	"github.com/porpoise/porpoise/apiserver/logs"
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// defaultLogLimit is what a window without limit holds: a few screens.
const defaultLogLimit = 64 << 10

// LogWindow is a part of an attempt's output as JSON.
type LogWindow struct {
	Stream     string  `json:"stream,omitempty"`
	Offset     int64   `json:"offset" doc:"Of data, in bytes of the chosen stream."`
	NextOffset int64   `json:"next_offset" doc:"Where the next window begins."`
	Size       int64   `json:"size" doc:"Of the stream so far."`
	EOF        bool    `json:"eof" doc:"The attempt is over and nothing follows."`
	Line       int64   `json:"line" doc:"The line that data begins in, from 1; 0 where it is not known."`
	Newlines   int64   `json:"newlines" doc:"Line ends of the stream so far."`
	LeftOut    *LogGap `json:"left_out,omitempty" doc:"What was dropped of a long output, between its head and its tail."`
	Data       string  `json:"data" doc:"Bytes that are no UTF-8 are replaced; text/plain has them as they are."`
}

// LogGap is what a worker has dropped of an output that is longer than it keeps.
type LogGap struct {
	From      int64 `json:"from" doc:"The offset of the first byte that is not there."`
	To        int64 `json:"to" doc:"The offset of the first byte that is there again."`
	LinesFrom int64 `json:"lines_from" doc:"Line ends before from."`
	LinesTo   int64 `json:"lines_to" doc:"Line ends before to."`
}

// AttemptLog is what every route about one attempt's output is told.
type AttemptLog struct {
	AttemptPath
	Stream string `query:"stream" enum:"stdout,stderr" doc:"Absent: both, as they came."`
}

type readLog struct {
	AttemptLog
	Offset int64  `query:"offset" doc:"In bytes of the chosen stream; negative counts from its end."`
	Line   int64  `query:"line" minimum:"1" doc:"Begin at this line, from 1, whatever the offset."`
	Limit  int    `query:"limit" minimum:"1" doc:"Bytes, at most 1048576; more is cut to that."`
	Lines  int    `query:"lines" minimum:"1" maximum:"10000" doc:"End after so many lines, if limit allows them."`
	Follow bool   `query:"follow" doc:"text/plain only: go on until the attempt ends."`
	Accept string `header:"Accept"`
}

func (s *Server) logRoutes() {
	add(s, spec{
		id: "read-log", method: "GET", path: "/instances/{id}/tasks/{task}/attempts/{number}/log", tag: "instances",
		summary: "Read or follow the output of an attempt", stream: true, produces: []string{"text/plain", "application/json"},
		access: access{need: roleViewer, object: ofInstance},
	}, s.readLog)
	add(s, spec{
		id: "search-log", method: "GET", path: "/instances/{id}/tasks/{task}/attempts/{number}/log/search", tag: "instances",
		summary: "Find lines in the output of an attempt",
		access:  access{need: roleViewer, object: ofInstance},
	}, s.searchLog)
	add(s, spec{
		id: "download-log", method: "GET", path: "/instances/{id}/tasks/{task}/attempts/{number}/log/download", tag: "instances",
		summary: "Download the output of an attempt, byte for byte", stream: true, produces: []string{"text/plain"},
		access: access{need: roleViewer, object: ofInstance},
	}, s.downloadLog)
	add(s, spec{
		id: "download-logs", method: "GET", path: "/instances/{id}/tasks/{task}/logs.zip", tag: "instances",
		summary: "Download the output of all attempts of a task", stream: true, produces: []string{"application/zip"},
		access: access{need: roleViewer, object: ofInstance},
	}, s.downloadLogs)
}

// attemptOf finds the attempt that a call is about, and the query for its output.
func (s *Server) attemptOf(ctx context.Context, in *AttemptLog) (a sql.AttemptRow, q logs.Query, err error) {
	a, err = s.attemptRow(ctx, &in.AttemptPath)
	return a, logs.Query{Instance: a.InstanceID, Task: a.Task, Number: a.Number, Stream: in.Stream}, err
}

// attemptRow finds the attempt that a call is about.
func (s *Server) attemptRow(ctx context.Context, in *AttemptPath) (a sql.AttemptRow, err error) {
	id := callOf(ctx).instance.ID
	number, ok := parseID(in.Number)
	if !ok {
		return a, badID("number", in.Number)
	}
	t, err := s.store.Task(ctx, id, in.Task)
	if err != nil {
		return a, fmt.Errorf("read task: %w", err)
	}
	if number > int64(t.Attempts) {
		if t.Attempts == 0 {
			return a, problem(http.StatusNotFound, "the task has not been started yet: it is "+string(t.State))
		}
		return a, problem(http.StatusNotFound, "the task has "+strconv.Itoa(t.Attempts)+" attempts")
	}
	a, err = s.store.Attempt(ctx, id, t.Index, int(number))
	if err != nil {
		return a, fmt.Errorf("read attempt: %w", err)
	}
	return a, nil
}

func (s *Server) readLog(ctx context.Context, in *readLog) (*huma.StreamResponse, error) {
	a, q, err := s.attemptOf(ctx, &in.AttemptLog)
	if err != nil {
		return nil, err
	}
	q.Offset, q.Line, q.Limit, q.Lines = in.Offset, in.Line, in.Limit, in.Lines
	if q.Limit == 0 {
		q.Limit = defaultLogLimit
	}
	q.Limit = min(q.Limit, logs.MaxLimit)
	if in.Follow && !wantsJSON(in.Accept) {
		return &huma.StreamResponse{Body: func(h huma.Context) { s.followLog(h, a, q) }}, nil
	}
	w, err := s.window(ctx, a, q)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(h huma.Context) { writeWindow(h, in, w) }}, nil
}

// wantsJSON prefers text, which a browser can't take for a page.
func wantsJSON(accept string) bool {
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/plain")
}

// window reads a part of the log from the worker. Where the worker is gone, what the
// store has kept answers for it: the last 2 KiB, if they were asked for.
func (s *Server) window(ctx context.Context, a sql.AttemptRow, q logs.Query) (logs.Window, error) {
	ctx, cancel := context.WithTimeout(ctx, handlerTimeout)
	defer cancel()
	w, err := logs.Window{}, error(logs.ErrWorkerGone)
	if a.Worker == "" {
		return logs.Window{EOF: final(a.State)}, nil // it ran in the master, and printed nothing
	}
	if s.cfg.Logs != nil {
		w, err = s.cfg.Logs.Read(ctx, a.Worker, q)
	}
	if err == nil {
		return w, nil
	}
	return s.tail(a, q, err)
}

func (s *Server) tail(a sql.AttemptRow, q logs.Query, cause error) (logs.Window, error) {
	if errors.Is(cause, logs.ErrNotFound) && (!final(a.State) || a.LogBytes == 0) {
		return logs.Window{EOF: final(a.State)}, nil // nothing printed
	}
	start := a.LogBytes - int64(len(a.Tail))
	from, line := q.Offset, int64(0)
	if from < 0 {
		from = max(a.LogBytes+from, start) // as much of the end as there is
	}
	if start == 0 {
		// All of it is here, so that lines can be counted.
		if q.Line > 0 {
			from = lineStart(a.Tail, q.Line)
		}
		from = min(from, a.LogBytes)
		line = int64(bytes.Count(a.Tail[:from], []byte{'\n'})) + 1
	}
	if q.Stream != "" || !final(a.State) || from < start || q.Line > 0 && start > 0 {
		return logs.Window{}, logProblem(a.Worker, cause)
	}
	w := logs.Window{Data: a.Tail[min(from-start, int64(len(a.Tail))):], Offset: min(from, a.LogBytes), Size: a.LogBytes, Line: line, EOF: true}
	if line > 0 {
		w.Newlines = int64(bytes.Count(a.Tail, []byte{'\n'}))
	}
	if len(w.Data) > q.Limit {
		w.Data, w.EOF = w.Data[:q.Limit], false
	}
	return w, nil
}

func lineStart(text []byte, line int64) int64 {
	at := 0
	for ; line > 1; line-- {
		n := bytes.IndexByte(text[at:], '\n') + 1
		if n == 0 {
			return int64(len(text))
		}
		at += n
	}
	return int64(at)
}

func logProblem(worker string, err error) error {
	switch {
	case errors.Is(err, logs.ErrWorkerGone):
		return unavailable("worker lost: " + worker + " is not connected; the attempt's tail is in its row")
	case errors.Is(err, logs.ErrBusy):
		return unavailable("worker " + worker + " has too many readers")
	case errors.Is(err, logs.ErrNotFound):
		return problem(http.StatusNotFound, "worker "+worker+" has no output of this attempt any more")
	}
	return err
}

func final(state dag.AttemptState) bool {
	switch state {
	case dag.AttemptSuccess, dag.AttemptFailed, dag.AttemptKilled, dag.AttemptLost, dag.AttemptReturned:
		return true
	case dag.AttemptDispatched, dag.AttemptRunning, dag.AttemptKilling:
	}
	return false
}

func writeWindow(h huma.Context, in *readLog, w logs.Window) {
	if wantsJSON(in.Accept) {
		h.SetHeader("Content-Type", "application/json")
		h.SetStatus(http.StatusOK)
		whole := wholeRunes(w)
		data := string(whole)
		if !utf8.ValidString(data) {
			data = strings.ToValidUTF8(data, "�")
		}
		_, _ = h.BodyWriter().Write(marshalJSON(LogWindow{
			Stream: in.Stream, Offset: w.Offset, NextOffset: w.Offset + int64(len(whole)),
			Size: w.Size, EOF: w.EOF, Line: w.Line, Newlines: w.Newlines, LeftOut: leftOut(w.Gap), Data: data,
		})) // a client that left has nobody to tell
		return
	}
	logHeaders(h)
	h.SetHeader("X-Log-Offset", strconv.FormatInt(w.Offset, 10))
	h.SetHeader("X-Log-Size", strconv.FormatInt(w.Size, 10))
	h.SetHeader("X-Log-Eof", strconv.FormatBool(w.EOF))
	h.SetHeader("X-Log-Line", strconv.FormatInt(w.Line, 10))
	h.SetStatus(http.StatusOK)
	_, _ = h.BodyWriter().Write(w.Data)
}

// wholeRunes leaves the beginning of a character at the end of a window to the next one.
func wholeRunes(w logs.Window) []byte {
	if w.Offset+int64(len(w.Data)) >= w.Size && w.EOF {
		return w.Data
	}
	for n := 1; n < utf8.UTFMax && n < len(w.Data); n++ {
		if at := len(w.Data) - n; utf8.RuneStart(w.Data[at]) {
			if !utf8.FullRune(w.Data[at:]) {
				return w.Data[:at]
			}
			break
		}
	}
	return w.Data
}

func leftOut(g logs.Gap) *LogGap {
	if g.From == g.To {
		return nil
	}
	return &LogGap{From: g.From, To: g.To, LinesFrom: g.LinesFrom, LinesTo: g.LinesTo}
}

// logHeaders keep a browser from taking output for anything but text.
func logHeaders(h huma.Context) {
	h.SetHeader("Content-Type", "text/plain; charset=utf-8")
	h.SetHeader("Content-Disposition", `inline; filename="log.txt"`)
}

// followLog sends output as it comes. The status is sent with the first byte, so that
// a worker that is gone can still be told as a problem.
func (s *Server) followLog(h huma.Context, a sql.AttemptRow, q logs.Query) {
	r, w := humamux.Unwrap(h)
	rc := http.NewResponseController(w)
	begun := false
	send := func(win logs.Window) error {
		if !begun {
			begun = true
			logHeaders(h)
			h.SetHeader("X-Accel-Buffering", "no")
			h.SetStatus(http.StatusOK)
		}
		if _, err := w.Write(win.Data); err != nil {
			return fmt.Errorf("send log: %w", err)
		}
		return rc.Flush()
	}
	err := error(logs.ErrWorkerGone)
	switch {
	case a.Worker == "":
		err = send(logs.Window{})
	case s.cfg.Logs != nil:
		err = s.cfg.Logs.Follow(r.Context(), a.Worker, q, send)
	}
	if err == nil || r.Context().Err() != nil {
		return
	}
	if begun {
		s.log.Debug("log follow ended early", "instance", a.InstanceID, "worker", a.Worker, "error", err)
		// The length was never promised: breaking the stream is the only way to say so.
		panic(http.ErrAbortHandler)
	}
	win, tailErr := s.tail(a, q, err)
	if tailErr != nil {
		writeProblem(w, r, s.problemOf(r.Context(), tailErr))
		return
	}
	if err := send(win); err != nil {
		s.log.Debug("log follow ended early", "instance", a.InstanceID, "error", err)
	}
}
