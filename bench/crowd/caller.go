package crowd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/porpoise/porpoise/bench/site"
)

// callTimeout bounds one call. A product that has stalled is not waited for longer.
const callTimeout = 30 * time.Second

// Caller makes one call again and again, over one connection that stays. It is for one goroutine. A call costs it about 10 us
// of processor time; with an http.Client it would be some 60, which the product would lack on a machine that they share.
type Caller struct {
	address string
	request []byte
	conn    net.Conn
	in      *bufio.Reader
}

// Answer is what came back.
type Answer struct {
	Status     int
	RetryAfter string
	Body       []byte
}

// NewCaller prepares a call with an empty object as its body. The server is a URL without a path; a token of "" is none.
func NewCaller(server, path, token string) *Caller {
	return newCaller("POST "+path, server, token, "{}")
}

// NewStarter prepares starts of a workflow.
func NewStarter(s *site.Site, project, workflow string) *Caller {
	return StarterWith(s, project, workflow, "{}")
}

// StarterWith prepares starts of a workflow with such a body.
func StarterWith(s *site.Site, project, workflow, body string) *Caller {
	return newCaller("POST /api/v1/projects/"+project+"/workflows/"+workflow+"/start", s.URL, s.Token, body)
}

// NewReader prepares calls that read what is at the path.
func NewReader(s *site.Site, path string) *Caller { return newCaller("GET "+path, s.URL, s.Token, "") }

func newCaller(line, server, token, body string) *Caller {
	address := strings.TrimPrefix(server, "http://")
	head := line + " HTTP/1.1\r\nHost: " + address + "\r\n"
	if token != "" {
		head += "Authorization: Bearer " + token + "\r\n"
	}
	if body != "" {
		head += "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	return &Caller{address: address, request: []byte(head + "\r\n" + body)}
}

// Call makes the call once. After an error the next one dials again.
func (c *Caller) Call(ctx context.Context) (a Answer, err error) {
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	if c.conn == nil {
		if c.conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", c.address); err != nil {
			c.conn = nil
			return a, err
		}
		c.in = bufio.NewReaderSize(c.conn, 4<<10)
	}
	if err := c.conn.SetDeadline(time.Now().Add(callTimeout)); err != nil {
		return a, err
	}
	if _, err := c.conn.Write(c.request); err != nil {
		return a, err
	}
	answer, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return a, err
	}
	a.Status, a.RetryAfter = answer.StatusCode, answer.Header.Get("Retry-After")
	a.Body, err = io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err == nil && answer.Close {
		c.Close()
	}
	return a, err
}

// Start makes the call and returns the id of the instance; an answer other than 202 is an error.
func (c *Caller) Start(ctx context.Context) (id string, err error) {
	a, err := c.Call(ctx)
	if err != nil {
		return "", fmt.Errorf("start: %w", err)
	}
	if a.Status != http.StatusAccepted {
		return "", fmt.Errorf("start: status %d: %s", a.Status, a.Body)
	}
	var started struct {
		ID string `json:"instance_id"`
	}
	if err := json.Unmarshal(a.Body, &started); err != nil {
		return "", fmt.Errorf("start: read the answer %q: %w", a.Body, err)
	}
	return started.ID, nil
}

// Close ends the connection; a later call makes another one.
func (c *Caller) Close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}
