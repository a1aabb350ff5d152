package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// maxHits is how many hits one answer of a search may have.
const maxHits = 1000

// LogOf names the output of one attempt. Stream is stdout, stderr, or "" for both as they came.
type LogOf struct {
	Instance, Task string
	Attempt        int
	Stream         string
}

func (l LogOf) call(rest ...string) call {
	in := call{
		method: http.MethodGet, path: append([]string{"instances", l.Instance, "tasks", l.Task, "attempts", strconv.Itoa(l.Attempt), "log"}, rest...),
		query: url.Values{},
	}
	if l.Stream != "" {
		in.query.Set("stream", l.Stream)
	}
	return in
}

// ReadLogFrom copies an output to w, from a line on, as it is now.
func (c *Client) ReadLogFrom(ctx context.Context, w io.Writer, l LogOf, line int64) error {
	in := l.call()
	in.header = http.Header{"Accept": {"text/plain"}}
	in.query.Set("limit", strconv.Itoa(1<<20))
	in.query.Set("line", strconv.FormatInt(line, 10))
	for {
		got, err := c.copyLog(ctx, w, in)
		if err != nil {
			return err
		}
		if got.size <= got.next || got.copied == 0 {
			return nil
		}
		in.query.Del("line")
		in.query.Set("offset", strconv.FormatInt(got.next, 10))
	}
}

// LogHit is a line of an output that matches.
type LogHit struct {
	Line int64  `json:"line"`
	Text string `json:"text"`
}

// SearchLog yields the lines that match an RE2 expression, from a line on.
func (c *Client) SearchLog(ctx context.Context, l LogOf, expression string, ignoreCase bool, line int64, yield func(LogHit) error) error {
	in := l.call("search")
	in.query.Set("q", expression)
	in.query.Set("regex", "true")
	in.query.Set("case", strconv.FormatBool(!ignoreCase))
	in.query.Set("limit", strconv.Itoa(maxHits))
	for {
		in.query.Set("line", strconv.FormatInt(line, 10))
		var found struct {
			Hits []LogHit `json:"hits"`
		}
		if _, err := c.do(ctx, in, &found); err != nil {
			return err
		}
		for _, h := range found.Hits {
			if err := yield(h); err != nil {
				return err
			}
			line = h.Line + 1
		}
		if len(found.Hits) < maxHits {
			return nil
		}
	}
}
