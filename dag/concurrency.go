package dag

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/porpoise/porpoise/dag/document"
)

// Concurrency says how many instances of a workflow may run at a time, and what becomes of one
// that finds no place. A zero Limit is no limit. That of the published version holds for every
// instance of the workflow, whatever version it runs.
type Concurrency struct {
	Limit    int
	WhenFull WhenFull
	// Key is a text with ${name} references: instances with the same text share the places. An
	// empty one is shared by all.
	Key string
}

// WhenFull says what becomes of an instance for which there is no place.
type WhenFull string

// The values of concurrency.when_full. A round that is opened by recover or rerun waits under
// discard, too: what somebody asks for by hand must not end what was there.
const (
	WhenFullWait    WhenFull = "wait"    // it waits its turn: by priority, then by id
	WhenFullDiscard WhenFull = "discard" // it ends at once as stopped
	WhenFullReplace WhenFull = "replace" // older ones are stopped, and it begins once they have ended
)

// concurrencyText is concurrency as a text has it.
type concurrencyText struct {
	Limit    int    `json:"limit" rule:"required,min=1,max=10000" doc:"How many instances of the workflow, or of one key, may run at a time."`
	WhenFull string `json:"when_full" rule:"enum=wait|discard|replace" default:"wait" doc:"What becomes of an instance for which there is no place: it waits its turn, ends at once as stopped, or stops the oldest ones and takes their place."`
	Key      string `json:"key" rule:"max=1024" advanced:"true" doc:"Instances with the same text share the places. ${name} is replaced by a parameter of the workflow or a built-in one."`
}

func (c *concurrencyText) concurrency() Concurrency {
	if c == nil {
		return Concurrency{}
	}
	return Concurrency{Limit: c.Limit, WhenFull: WhenFull(c.WhenFull), Key: c.Key}
}

// ReadConcurrency reads what a text that was checked before says of concurrency, without a look
// at its tasks. A text that cannot be read sets no limit.
func ReadConcurrency(text []byte, format string) Concurrency {
	root, errs := document.Read(text, format)
	if len(errs) > 0 || root.Kind != document.Map {
		return Concurrency{}
	}
	n := root.Get("concurrency")
	if n == nil {
		return Concurrency{}
	}
	var c concurrencyText
	if errs := document.Decode(n, &c); len(errs) > 0 || c.Limit < 1 {
		return Concurrency{}
	}
	return c.concurrency()
}

// concurrency checks the key's references: it is resolved before any task runs.
func (r *references) concurrency() {
	const field = "concurrency.key"
	if err := checkText(field, r.def.Concurrency.Key); err != nil {
		r.errs = append(r.errs, *err)
		return
	}
	r.text(field, r.def.Concurrency.Key, func(name string) *FieldError {
		if isBuiltin(name) || r.workflow[name] {
			return nil
		}
		return &FieldError{
			Code: CodeUnknownName, Value: document.Shown(name), Args: Args{"name": document.Shown(name)},
			Message: "${" + document.Shown(name) + "} is not known here: the key can refer to parameters of the workflow and to built-in names",
		}
	})
}

// maxLimitKey bounds the text of a key as it is compared and shown, in bytes.
const maxLimitKey = 200

// LimitKey puts the instance's parameters into a key. A reference without a value stays as it is
// written, so that an older version without that parameter has a key, too. A long text
// is cut, with its SHA-256 at its end.
func (in *Instance) LimitKey(key string, facts Facts) string {
	if !strings.Contains(key, "${") {
		return shortKey(key)
	}
	r := resolver{in: in, task: -1, t: &Task{}}
	_ = r.parameters(facts) // what it could not resolve has no value
	text, err := expand(key, func(name string) (string, *FieldError) {
		if value, ok := r.values[name]; ok {
			return value, nil
		}
		if under, ok := builtinOf(name); ok {
			return r.values[under], nil
		}
		return "${" + name + "}", nil
	})
	if err != nil {
		text = key
	}
	return shortKey(text)
}

func shortKey(key string) string {
	if len(key) <= maxLimitKey {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	tail := "~" + hex.EncodeToString(sum[:])
	return strings.ToValidUTF8(key[:maxLimitKey-len(tail)], "") + tail
}

// wait puts an instance that has not begun into the line of those that wait for a place.
func (s *step) wait() {
	if s.in.State != InstanceSubmitted {
		s.fx.Stale = true
		return
	}
	s.enterInstance(InstanceSerialWait, "", "")
}

// discard ends an instance that found no place before it has begun.
func (s *step) discard() {
	if s.in.State != InstanceSubmitted && s.in.State != InstanceSerialWait {
		s.fx.Stale = true
		return
	}
	s.stop(Control{Reason: ReasonDiscarded})
}

// displaced says that the limit of the workflow ended an instance.
func (r Reason) displaced() bool { return r == ReasonDiscarded || r == ReasonReplaced }
