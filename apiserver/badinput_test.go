package apiserver

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// badCase is one line of testdata/bad_input.yaml.
type badCase struct {
	Name, As, Method, Path, Type, Body, Hex string
	Headers                                 map[string]string
	Fill, Query                             *struct {
		Before, Unit, After string
		Count               int
	}
	Status            any
	Field, Code, Says string
	Also              string
}

func (c *badCase) statuses() []int {
	switch v := c.Status.(type) {
	case int:
		return []int{v}
	case []any:
		var out []int
		for _, s := range v {
			out = append(out, s.(int))
		}
		return out
	}
	return nil
}

func (c *badCase) request(b *bench, id string) *http.Request {
	body := c.Body
	if c.Fill != nil {
		body = c.Fill.Before + strings.Repeat(c.Fill.Unit, c.Fill.Count) + c.Fill.After
	}
	if c.Hex != "" {
		raw, err := hex.DecodeString(c.Hex)
		if err != nil {
			b.t.Fatal(err)
		}
		body = string(raw)
	}
	path := "/api/v1" + strings.ReplaceAll(c.Path, "$ID", id)
	if c.Query != nil {
		path += "?" + strings.Repeat(c.Query.Unit, c.Query.Count)
	}
	r := httptest.NewRequest(c.Method, "http://porpoise.test"+path, strings.NewReader(body))
	switch c.Type {
	case "":
		if body != "" || c.Method != "GET" {
			r.Header.Set("Content-Type", "application/json")
		}
	case "-":
	default:
		r.Header.Set("Content-Type", c.Type)
	}
	for k, v := range c.Headers {
		r.Header.Set(k, v)
	}
	if c.As != "nobody" {
		r.Header.Set("Authorization", "Bearer "+b.admin)
	}
	return r
}

// TestBadInputIsRefusedWithFieldAndCode runs every case of the file, and compares the
// whole database before and after each.
func TestBadInputIsRefusedWithFieldAndCode(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/bad_input.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []badCase
	if err := yaml.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	id := b.seed("alpha")
	b.begin(id)
	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/unpublished?publish=false", strings.ReplaceAll(twoTasks, "daily", "unpublished"), "Content-Type", "application/yaml")
	b.must(202, "POST", "/api/v1/projects/alpha/workflows/daily/start", "{}", "Idempotency-Key", "used")
	before := b.snapshot()
	for _, c := range cases {
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, c.request(b, id))
		c.check(t, w)
		if after := b.snapshot(); after != before {
			t.Errorf("%s: the database changed", c.Name)
			before = after
		}
		if alive := b.do(asked{method: "GET", path: "/healthz"}); alive.Code != 200 {
			t.Fatalf("%s: /healthz = %d after it", c.Name, alive.Code)
		}
	}
	t.Logf("%d cases", len(cases))
}

func (c *badCase) check(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if !slices.Contains(c.statuses(), w.Code) {
		t.Errorf("%s: status %d, want %v: %s", c.Name, w.Code, c.Status, w.Body)
		return
	}
	if got := w.Header().Get("Content-Type"); got != problemType {
		t.Errorf("%s: Content-Type %q", c.Name, got)
	}
	var p Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Errorf("%s: %v in %q", c.Name, err, w.Body)
		return
	}
	if p.Status != w.Code || p.Title == "" || p.RequestID == "" || p.Type != "about:blank" {
		t.Errorf("%s: problem %+v", c.Name, p)
	}
	found, also := c.Field == "" && c.Code == "", c.Also == ""
	for _, e := range p.Errors {
		found = found || (c.Field == "" || e.Field == c.Field) && (c.Code == "" || e.Code == c.Code)
		also = also || e.Field == c.Also
		if n := len([]rune(e.Value)); n > 4*maxErrorValue {
			t.Errorf("%s: value of %d characters", c.Name, n)
		}
	}
	if !found || !also {
		t.Errorf("%s: errors %+v, want field %q code %q", c.Name, p.Errors, c.Field, c.Code)
	}
	if !strings.Contains(w.Body.String(), c.Says) {
		t.Errorf("%s: %s does not say %q", c.Name, w.Body, c.Says)
	}
}
