package dag

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag/document"
)

// retryText is either a number of retries with a growing wait, or a list of waits; and which
// failures are retried, and where.
type retryText struct {
	Times    *int       `json:"times" rule:"min=0,max=100" doc:"How many attempts may follow the first one."`
	Delay    *Duration  `json:"delay" rule:"min=0s,max=30d" doc:"The wait before the first retry; 30s where nothing is said."`
	Backoff  *float64   `json:"backoff" rule:"min=1,max=100" advanced:"true" doc:"What each further wait is multiplied by; 1 where nothing is said."`
	MaxDelay *Duration  `json:"max_delay" rule:"min=1ms,max=30d" advanced:"true" doc:"No wait is longer than this; 1d where nothing is said."`
	Delays   []Duration `json:"delays" rule:"min=1,max=100" editor:"durations" advanced:"true" doc:"The wait before each retry; their number is the number of retries. Excludes times, delay, backoff and max_delay."`

	OnExitCodes    []document.Text `json:"on_exit_codes" rule:"min=1,max=100" pattern:"^[1-9][0-9]*(-[1-9][0-9]*)?$" editor:"names" advanced:"true" doc:"Only failures with one of these exit codes are followed by another attempt: 75, or 1-3."`
	NotOnExitCodes []document.Text `json:"not_on_exit_codes" rule:"min=1,max=100" pattern:"^[1-9][0-9]*(-[1-9][0-9]*)?$" editor:"names" advanced:"true" doc:"Failures with one of these exit codes are not followed by another attempt."`
	When           string          `json:"when" rule:"max=4096" advanced:"true" doc:"A condition over exit_code, reason, attempt and what else the task sees: where it does not hold, no other attempt follows."`
	Elsewhere      bool            `json:"elsewhere" advanced:"true" doc:"The next attempt goes to another worker than the one before, where the group has one."`
}

// defaultRetryDelay keeps a retry from running into the fault that it waits out.
const defaultRetryDelay = 30 * time.Second

// maxRetryDelay bounds one wait of a list; for the other waits the tags do.
const maxRetryDelay = 30 * 24 * time.Hour

// retryRules is retryText without its own check, so that the check can call the tags'.
type retryRules retryText

// CheckDocument checks that one of the two forms is used, and the waits of the list.
func (r retryText) CheckDocument(at *document.Path) []FieldError {
	rules := retryRules(r)
	errs := document.Check(&rules, at)
	others := r.Times != nil || r.Delay != nil || r.Backoff != nil || r.MaxDelay != nil
	switch {
	case r.Delays != nil && others:
		errs = append(errs, FieldError{
			Field: at.Key("delays").String(), Code: CodeConflict,
			Message: `"delays" excludes "times", "delay", "backoff" and "max_delay": give the list or the others`,
		})
	case r.Delays == nil && r.Times == nil:
		errs = append(errs, FieldError{
			Field: at.String(), Code: document.CodeRequired, Message: `"times" is missing: how many attempts may follow the first one (or give "delays")`,
		})
	}
	if r.OnExitCodes != nil && r.NotOnExitCodes != nil {
		errs = append(errs, FieldError{
			Field: at.Key("not_on_exit_codes").String(), Code: CodeConflict,
			Message: `"on_exit_codes" says which are retried, all others are not: leave "not_on_exit_codes" out`,
		})
	}
	_, more := codeRanges(at.Key("on_exit_codes"), r.OnExitCodes)
	errs = append(errs, more...)
	_, more = codeRanges(at.Key("not_on_exit_codes"), r.NotOnExitCodes)
	errs = append(errs, more...)
	for i, d := range r.Delays {
		if d < 0 || time.Duration(d) > maxRetryDelay {
			errs = append(errs, FieldError{
				Field: at.Key("delays").Index(i).String(), Code: document.CodeOutOfRange, Value: d.String(),
				Message: "the wait is out of range: " + d.String() + ", allowed is 0s to 30d",
			})
		}
	}
	return errs
}

func (r *retryText) retry() Retry {
	if r == nil {
		return Retry{}
	}
	out := Retry{When: r.When, Elsewhere: r.Elsewhere}
	out.OnExitCodes, _ = codeRanges(nil, r.OnExitCodes)
	out.NotOnExitCodes, _ = codeRanges(nil, r.NotOnExitCodes)
	if r.Delays != nil {
		out.Times, out.Delays = len(r.Delays), make([]time.Duration, len(r.Delays))
		for i, d := range r.Delays {
			out.Delays[i] = time.Duration(d)
		}
		return out
	}
	out.Delay, out.Backoff = defaultRetryDelay, 1
	if r.Times != nil {
		out.Times = *r.Times
	}
	if r.Delay != nil {
		out.Delay = time.Duration(*r.Delay)
	}
	if r.Backoff != nil && !math.IsNaN(*r.Backoff) {
		out.Backoff = *r.Backoff
	}
	if r.MaxDelay != nil {
		out.MaxDelay = time.Duration(*r.MaxDelay)
	}
	return out
}

// codeRanges reads exit codes as a text has them: 75, or 1-3 for a range.
func codeRanges(at *document.Path, texts []document.Text) ([]CodeRange, []FieldError) {
	var ranges []CodeRange
	var errs []FieldError
	for i, text := range texts {
		first, last, isRange := strings.Cut(string(text), "-")
		if !isRange {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 8)
		to, err2 := strconv.ParseUint(last, 10, 8)
		if err != nil || err2 != nil || from == 0 || to < from {
			errs = append(errs, FieldError{
				Field: at.Index(i).String(), Code: document.CodeInvalid, Value: document.Shown(string(text)),
				Message: "want an exit code from 1 to 255, such as 75, or a range of them, such as 1-3, not " + document.Quoted(string(text)),
			})
			continue
		}
		ranges = append(ranges, CodeRange{int(from), int(to)})
	}
	return ranges, errs
}
