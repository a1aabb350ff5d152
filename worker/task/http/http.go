// Package http calls a URL and checks the answer. It follows no redirect, reads at most
// 1 MiB, attaches nothing of the worker's own, and never connects to a link-local
// address, whatever the name resolves to. The worker's control process runs it.
package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/egress"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/task"
)

const (
	// maxBody is how much of an answer is read.
	maxBody = 1 << 20
	// maxOutput is what an output may hold.
	maxOutput = 100 << 10
	// defaultConnect is the time for DNS, TCP and TLS.
	defaultConnect = 10 * time.Second
)

// Type is the type http. The zero value lets calls reach loopback and private addresses.
type Type struct{ egress.Rule }

// Call sends the request; the answer's body is the task's output.
func (t Type) Call(ctx context.Context, d *rpc.Dispatch, out io.Writer) task.Result {
	var spec dag.HTTPSpec
	if err := task.Decode(d, &spec); err != nil {
		return task.Result{Reason: "bad_spec", Message: err.Error()}
	}
	connect := time.Duration(spec.ConnectTimeout)
	if connect <= 0 {
		connect = defaultConnect
	}
	req, err := request(ctx, d, &spec)
	if err != nil {
		return task.Result{Reason: "bad_spec", Message: err.Error()}
	}
	transport := t.Transport(connect)
	defer transport.CloseIdleConnections()
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		reason := "http_failed"
		if errors.Is(err, egress.ErrDenied) {
			reason = "address_denied"
		}
		return task.Result{Reason: reason, Message: err.Error()}
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	_, _ = out.Write(body[:min(len(body), maxBody)])
	if err != nil {
		return task.Result{Reason: "http_failed", Message: fmt.Sprintf("read answer: %v", err)}
	}
	return judge(d, spec.Expect, res.StatusCode, body)
}

func request(ctx context.Context, d *rpc.Dispatch, spec *dag.HTTPSpec) (*http.Request, error) {
	method := strings.ToUpper(spec.Method)
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, spec.URL, strings.NewReader(spec.Body))
	if err != nil {
		return nil, err
	}
	if s := req.URL.Scheme; s != "http" && s != "https" {
		return nil, fmt.Errorf("url %q: only http and https are called", spec.URL)
	}
	if req.URL.Host == "" {
		return nil, fmt.Errorf("url %q names no host", spec.URL)
	}
	req.Header.Set("User-Agent", "porpoise")
	if key := d.GetIdempotencyKey(); key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	for name, value := range spec.Headers {
		if strings.EqualFold(name, "Host") {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	return req, nil
}

// judge compares the answer with what is expected.
func judge(d *rpc.Dispatch, expect *dag.HTTPExpect, code int, body []byte) task.Result {
	if len(body) > maxBody {
		return task.Result{Reason: "response_too_large", Message: fmt.Sprintf("the answer is over %d bytes", maxBody)}
	}
	text := string(body)
	if expect == nil {
		expect = &dag.HTTPExpect{}
	}
	switch {
	case !expect.Accepts(code):
		return task.Result{Reason: "http_status", Message: fmt.Sprintf("the answer has status %d", code)}
	case expect.BodyContains != "" && !strings.Contains(text, expect.BodyContains):
		return task.Result{Reason: "http_body", Message: fmt.Sprintf("the answer does not hold %q", expect.BodyContains)}
	case expect.BodyNotContains != "" && strings.Contains(text, expect.BodyNotContains):
		return task.Result{Reason: "http_body", Message: fmt.Sprintf("the answer holds %q", expect.BodyNotContains)}
	}
	outputs := map[string]string{}
	for _, name := range d.GetOutputs() {
		switch name {
		case "response":
			if len(text) > maxOutput {
				return task.Result{Reason: "output_too_large", Message: fmt.Sprintf("output %q is over %d KiB", name, maxOutput>>10)}
			}
			if !utf8.ValidString(text) {
				return task.Result{Reason: "output_not_text", Message: fmt.Sprintf("output %q is not UTF-8", name)}
			}
			outputs[name] = text
		case "status":
			outputs[name] = strconv.Itoa(code)
		}
	}
	return task.Result{Outputs: outputs}
}
