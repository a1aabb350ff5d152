package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
)

const (
	// DefaultServer is where a standalone node listens when nobody says otherwise.
	DefaultServer = "http://127.0.0.1:8080"
	// DefaultPatience is enough for the restart of a server, and short enough for a
	// script to learn that there is none any more.
	DefaultPatience = 30 * time.Second

	// requestTimeout bounds every call that is not a stream: the server ends its own
	// handlers well before.
	requestTimeout = 60 * time.Second
	// maxAnswer bounds what is read of one answer: lists are 200 items, a definition is
	// at most 8 MiB and JSON may double it.
	maxAnswer = 32 << 20
	// maxProblem bounds what is read of an error.
	maxProblem = 1 << 20
	// pageSize is the largest page that the server gives.
	pageSize = 200
	// idleConnections lets a benchmark keep its connections; a verb uses one.
	idleConnections = 256
)

// Config says where the server is and who calls.
type Config struct {
	Server string // a URL, with the base path where there is one; "" is DefaultServer
	Token  string
	Agent  string // User-Agent; "" is "porpoise"
	// Patience is how long Wait bears a server that does not serve; 0 is DefaultPatience.
	Patience time.Duration
}

// Client makes the calls. It is safe for concurrent use.
type Client struct {
	base  string
	token string
	agent string

	patience time.Duration
	http     *http.Client
}

// ErrUnreachable says that no answer came from the server at all.
var ErrUnreachable = errors.New("the server does not answer")

// Problem is an answer from 400 on, as RFC 9457 has it.
type Problem struct {
	Title     string           `json:"title"`
	Status    int              `json:"status"`
	Detail    string           `json:"detail"`
	RequestID string           `json:"request_id"`
	Errors    []dag.FieldError `json:"errors"`
}

// Error is the detail, or the status in words.
func (p *Problem) Error() string {
	if p.Detail != "" {
		return p.Detail
	}
	return p.Title
}

// New returns a client; the address must be http or https.
func New(cfg Config) (*Client, error) {
	if cfg.Server == "" {
		cfg.Server = DefaultServer
	}
	u, err := url.Parse(cfg.Server)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("server %q: want a URL such as %s", cfg.Server, DefaultServer)
	}
	if cfg.Agent == "" {
		cfg.Agent = "porpoise"
	}
	if cfg.Patience == 0 {
		cfg.Patience = DefaultPatience
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = idleConnections, idleConnections
	return &Client{
		base:  strings.TrimSuffix(u.String(), "/"),
		token: cfg.Token,
		agent: cfg.Agent,

		patience: cfg.Patience,
		http:     &http.Client{Transport: transport},
	}, nil
}

// Server returns the address that the client calls.
func (c *Client) Server() string { return c.base }

// call is one request.
type call struct {
	method string
	root   string   // "" is /api/v1
	path   []string // joined and escaped; below root
	query  url.Values
	header http.Header
	body   any    // marshalled as JSON, unless raw is set
	raw    []byte // with its Content-Type in header
}

// list is a page of any list.
type list[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor"`
}

// url makes the address; every part of the path is escaped, so that a name with a
// slash or a dot can't become another route.
func (c *Client) url(in *call) string {
	var b strings.Builder
	b.WriteString(c.base)
	b.WriteString(cmp.Or(in.root, "/api/v1"))
	for _, part := range in.path {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(part))
	}
	if len(in.query) > 0 {
		b.WriteByte('?')
		b.WriteString(in.query.Encode())
	}
	return b.String()
}

// open sends the request and returns a good answer with its body still to read.
func (c *Client) open(ctx context.Context, in call) (*http.Response, error) {
	raw := in.raw
	if in.body != nil {
		var err error
		if raw, err = json.Marshal(in.body); err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
	}
	var body io.Reader
	if raw != nil {
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, in.method, c.url(&in), body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	if raw != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(req.Header, in.header)
	req.Header.Set("User-Agent", c.agent)
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		defer func() { _ = resp.Body.Close() }()
		return nil, readProblem(resp)
	}
	return resp, nil
}

// readProblem reads an answer from 400 on; what is no problem document (a proxy's page)
// is told by its status.
func readProblem(resp *http.Response) error {
	p := &Problem{}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	if err != nil || !strings.Contains(resp.Header.Get("Content-Type"), "json") || json.Unmarshal(text, p) != nil {
		*p = Problem{}
	}
	var coded struct{ Msg string }
	if p.Detail == "" && json.Unmarshal(text, &coded) == nil {
		p.Detail = coded.Msg
	}
	p.Status = resp.StatusCode
	if p.Title == "" {
		p.Title = "the server answered " + resp.Status
	}
	return p
}

// do makes a call whose answer is JSON, or nothing when out is nil.
func (c *Client) do(ctx context.Context, in call, out any) (http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	resp, err := c.open(ctx, in)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: read the answer: %w", ErrUnreachable, err)
	case len(text) > maxAnswer:
		return nil, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	case out == nil || resp.StatusCode == http.StatusNoContent:
		return resp.Header, nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", c.base, err)
	}
	return resp.Header, nil
}

// all reads a list to its end, or to limit items where limit is not 0.
func all[T any](ctx context.Context, c *Client, in call, limit int) ([]T, error) {
	items := []T{}
	if in.query == nil {
		in.query = url.Values{}
	}
	for {
		size := pageSize
		if limit > 0 {
			size = min(size, limit-len(items))
		}
		in.query.Set("limit", strconv.Itoa(size))
		var page list[T]
		if _, err := c.do(ctx, in, &page); err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
		if page.NextCursor == "" || (limit > 0 && len(items) >= limit) {
			return items, nil
		}
		in.query.Set("cursor", page.NextCursor)
	}
}
