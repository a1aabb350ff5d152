package apiserver

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// bodyKind is what a route reads.
type bodyKind uint8

const (
	noBody         bodyKind = iota
	jsonBody                // decoded and checked against the handler's type
	definitionBody          // a workflow as YAML or JSON, read by dag
	textBody                // as jsonBody, with a definition among its values
)

const (
	maxBody           = 1 << 20
	maxDefinitionBody = 8 << 20
	// bodyTimeout is how long a client may take to send its body.
	bodyTimeout = 30 * time.Second
)

var definitionTypes = []string{"application/yaml", "text/yaml", "application/x-yaml", "application/json"}

func (k bodyKind) limit() int64 {
	switch k {
	case definitionBody:
		return maxDefinitionBody
	case textBody:
		return maxDefinitionBody + maxBody
	case noBody, jsonBody:
	}
	return maxBody
}

func (k bodyKind) types() []string {
	if k == definitionBody {
		return definitionTypes
	}
	return []string{"application/json"}
}

// documentBody describes a definition's body, which huma can't read off a Go type.
func (sp *spec) documentBody(op *huma.Operation, registered bool) {
	if sp.body != definitionBody {
		return
	}
	if op.RequestBody == nil {
		op.RequestBody = &huma.RequestBody{Required: !sp.optional, Content: map[string]*huma.MediaType{}, Description: "The definition; its schema is at /schema/workflow.json."}
	}
	for _, t := range definitionTypes {
		if t == "application/json" && !registered {
			continue // huma would decode it: it is added when huma has looked
		}
		op.RequestBody.Content[t] = &huma.MediaType{Schema: &huma.Schema{Type: "string", Format: "binary"}}
	}
}

// takeBody reads a body whole, within its limit and in a form that the route knows, and
// puts it back for the handler.
func (s *Server) takeBody(sp *spec, c *call, r **http.Request) *Problem {
	if sp.body == noBody {
		return nil
	}
	req := *r
	if enc := req.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return problem(http.StatusUnsupportedMediaType, "send the body as it is, not compressed")
	}
	if req.ContentLength > sp.body.limit() {
		return tooLarge(sp)
	}
	if p := s.admitBody(sp, c, req.ContentLength); p != nil {
		return p
	}
	body, p := readBody(sp, req)
	if p != nil {
		return p
	}
	c.stay.keep(int64(len(body)))
	if len(body) == 0 && sp.optional {
		return nil
	}
	media, _, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if err != nil || !slices.Contains(sp.body.types(), media) {
		return problem(http.StatusUnsupportedMediaType, "Content-Type must be "+strings.Join(sp.body.types(), " or "))
	}
	if sp.body == jsonBody || sp.body == textBody {
		if p := checkJSON(body); p != nil {
			return p
		}
		// What huma compares with its formats has no parameters.
		req.Header.Set("Content-Type", media)
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

func readBody(sp *spec, r *http.Request) ([]byte, *Problem) {
	var b bytes.Buffer
	if n := r.ContentLength; n > 0 {
		b.Grow(int(n) + bytes.MinRead)
	}
	_, err := b.ReadFrom(io.LimitReader(r.Body, sp.body.limit()+1))
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return nil, problem(http.StatusRequestTimeout, "the body did not arrive in time").with("Connection", "close")
	case err != nil:
		return nil, wrongField(http.StatusBadRequest, "body", "truncated", "", "the body ended early")
	case int64(b.Len()) > sp.body.limit():
		return nil, tooLarge(sp)
	}
	return b.Bytes(), nil
}

func tooLarge(sp *spec) *Problem {
	// The rest of the body is not read: the connection can't be used again.
	return wrongField(http.StatusRequestEntityTooLarge, "body", "too_large", "", "the body is larger than %d MiB", sp.body.limit()>>20).with("Connection", "close")
}
