package apiserver

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humamux"

	"github.com/porpoise/porpoise/apiserver/logs"
	"github.com/porpoise/porpoise/sql"
)

type downloadLogs struct{ TaskPath }

// attachment names a file that a browser keeps instead of showing it. Whatever is in the
// name of a task is encoded.
func attachment(name string) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": name})
}

// downloadLog sends an output as it is, window by window: no more than one is in memory.
func (s *Server) downloadLog(ctx context.Context, in *AttemptLog) (*huma.StreamResponse, error) {
	a, q, err := s.attemptOf(ctx, in)
	if err != nil {
		return nil, err
	}
	q.Limit = logs.MaxLimit
	first, err := s.window(ctx, a, q)
	if err != nil {
		return nil, err
	}
	name := in.Task + "-" + strconv.Itoa(a.Number)
	if in.Stream != "" {
		name += "-" + in.Stream
	}
	return &huma.StreamResponse{Body: func(h huma.Context) {
		r, w := humamux.Unwrap(h)
		h.SetHeader("Content-Type", "text/plain; charset=utf-8")
		h.SetHeader("Content-Disposition", attachment(name+".log"))
		if final(a.State) && first.Gap.From == first.Gap.To {
			// A transfer that breaks off is seen by the length.
			h.SetHeader("Content-Length", strconv.FormatInt(first.Size-first.Offset, 10))
		}
		h.SetStatus(http.StatusOK)
		if err := s.copyLog(r.Context(), w, a, q, first); err != nil {
			s.log.Debug("log download ended early", "instance", a.InstanceID, "worker", a.Worker, "error", err)
			panic(http.ErrAbortHandler)
		}
	}}, nil
}

// copyLog writes a first window and all that was there when it was read.
func (s *Server) copyLog(ctx context.Context, w io.Writer, a sql.AttemptRow, q logs.Query, win logs.Window) error {
	for size := win.Size; ; {
		if _, err := w.Write(win.Data); err != nil {
			return fmt.Errorf("send log: %w", err)
		}
		q.Offset = win.Offset + int64(len(win.Data))
		if len(win.Data) == 0 || q.Offset >= size {
			return nil
		}
		var err error
		if win, err = s.window(ctx, a, q); err != nil {
			return err
		}
	}
}

// downloadLogs sends a zip with the output of each attempt. What is not there any more
// has a file that says so.
func (s *Server) downloadLogs(ctx context.Context, in *downloadLogs) (*huma.StreamResponse, error) {
	id := callOf(ctx).instance.ID
	t, err := s.store.Task(ctx, id, in.Task)
	if err != nil {
		return nil, fmt.Errorf("read task: %w", err)
	}
	attempts, err := s.store.Attempts(ctx, id, t.Index)
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	if len(attempts) == 0 {
		return nil, problem(http.StatusNotFound, "the task has not been started yet: it is "+string(t.State))
	}
	return &huma.StreamResponse{Body: func(h huma.Context) {
		r, w := humamux.Unwrap(h)
		h.SetHeader("Content-Type", "application/zip")
		h.SetHeader("Content-Disposition", attachment(in.Task+"-"+strconv.FormatInt(id, 10)+".zip"))
		h.SetStatus(http.StatusOK)
		z := zip.NewWriter(w)
		for _, a := range attempts {
			if err := s.zipLog(r.Context(), z, a); err != nil {
				s.log.Debug("log download ended early", "instance", a.InstanceID, "worker", a.Worker, "error", err)
				panic(http.ErrAbortHandler)
			}
		}
		if err := z.Close(); err != nil {
			panic(http.ErrAbortHandler)
		}
	}}, nil
}

func (s *Server) zipLog(ctx context.Context, z *zip.Writer, a sql.AttemptRow) error {
	q := logs.Query{Instance: a.InstanceID, Task: a.Task, Number: a.Number, Limit: logs.MaxLimit}
	name := "attempt-" + strconv.Itoa(a.Number)
	at := time.Time{}
	if a.StartedAt > 0 {
		at = time.UnixMilli(int64(a.StartedAt)).UTC()
	}
	first, err := s.window(ctx, a, q)
	if err != nil {
		var p *Problem
		if ctx.Err() != nil || !errors.As(err, &p) {
			return err
		}
		f, err := z.CreateHeader(&zip.FileHeader{Name: name + ".missing.txt", Method: zip.Deflate, Modified: at})
		if err == nil {
			_, err = fmt.Fprintf(f, "%s\n\nIts last lines:\n%s\n", p.Detail, a.Tail)
		}
		if err != nil {
			return fmt.Errorf("send log: %w", err)
		}
		return nil
	}
	f, err := z.CreateHeader(&zip.FileHeader{Name: name + ".log", Method: zip.Deflate, Modified: at})
	if err != nil {
		return fmt.Errorf("send log: %w", err)
	}
	return s.copyLog(ctx, f, a, q, first)
}
