package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/grep"
	"github.com/porpoise/porpoise/worker/runner"
	"github.com/porpoise/porpoise/worker/tasklog"
)

// find answers a search. It runs here and not in the runner: an expression of a user's
// must not cost the process that holds the tasks.
func (r *reader) find(ctx context.Context, q *rpc.LogQuery) {
	select {
	case r.search <- struct{}{}:
		defer func() { <-r.search }()
	case <-ctx.Done():
		return
	}
	within, stop := context.WithTimeout(ctx, searchFor)
	defer stop()
	found, err := grep.Search(within, grep.Query{
		Pattern: grep.Pattern{Text: q.Search.Text, Regexp: q.Search.Regexp, Case: q.Search.MatchCase},
		Offset:  q.Offset, Line: q.Line, Backward: q.Search.Backward, Count: q.Search.Count, Limit: int(q.Search.Limit),
	}, r.loop.windows(q))
	if ctx.Err() != nil {
		return
	}
	a := &rpc.LogAnswer{Id: q.Id, Found: &rpc.LogFound{Total: found.Total, Whole: found.Whole, Searched: found.Searched}}
	for _, h := range found.Hits {
		more := make([]int32, len(h.More))
		for i, n := range h.More {
			more[i] = int32(n)
		}
		a.Found.Hits = append(a.Found.Hits, &rpc.LogHit{
			Offset: h.Offset, Line: h.Line, Number: h.Number, Text: h.Text, Start: int32(h.Start), Length: int32(h.Length), More: more,
		})
	}
	switch {
	case errors.Is(err, tasklog.ErrNotFound):
		a.Error = tasklog.ErrNotFound.Error()
	case err != nil:
		a.Error = err.Error()
	}
	_ = r.send(a) // the stream's end is seen by its receiver
}

// windows reads the output that a query is about.
func (c *loop) windows(q *rpc.LogQuery) grep.Read {
	return func(ctx context.Context, offset, line int64, limit int) (tasklog.Text, error) {
		text, err := c.readLog(ctx, &runner.Read{Attempt: toRunner(q.Attempt, 0), Stream: q.Stream, Offset: offset, Line: line, Limit: int32(limit)})
		switch {
		case err != nil:
			return tasklog.Text{}, err
		case text.Error == tasklog.ErrNotFound.Error():
			return tasklog.Text{}, tasklog.ErrNotFound
		case text.Error != "":
			return tasklog.Text{}, fmt.Errorf("read output: %s", text.Error)
		}
		t := tasklog.Text{Data: text.Data, Offset: text.Offset, Size: text.Size, Line: text.Line, Newlines: text.Newlines, EOF: text.Eof}
		if g := text.Gap; g != nil {
			t.Gap = tasklog.Gap{From: g.From, To: g.To, LinesFrom: g.LinesFrom, LinesTo: g.LinesTo}
		}
		return t, nil
	}
}

func gapOf(g *runner.Gap) *rpc.LogGap {
	if g == nil {
		return nil
	}
	return &rpc.LogGap{From: g.From, To: g.To, LinesFrom: g.LinesFrom, LinesTo: g.LinesTo}
}
