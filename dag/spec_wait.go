package dag

import (
	"time"

	"github.com/porpoise/porpoise/dag/document"
)

// WaitSpec is what a wait task has for itself: exactly one of the two.
type WaitSpec struct {
	For   Duration `json:"for,omitempty" rule:"min=0s,max=365d" doc:"How long to wait, from the moment when the task is ready."`
	Until Moment   `json:"until,omitempty" verbatim:"true" editor:"moment" doc:"The moment to wait for; one that has passed does not wait."`
}

// Validate checks that exactly one of the two is there.
func (s *WaitSpec) Validate() []FieldError {
	errs := document.Check(s, nil)
	switch {
	case s.For != 0 && s.Until != "":
		errs = append(errs, FieldError{Field: "until", Code: CodeConflict, Message: `"for" and "until" exclude each other: give one`})
	case s.For == 0 && s.Until == "":
		errs = append(errs, FieldError{Field: "for", Code: document.CodeRequired, Message: `a wait task wants "for", such as 10m, or "until"`})
	}
	return errs
}

// End returns when a wait that begins at the moment now is over: at now or later.
func (s *WaitSpec) End(now Millis) Millis {
	if s.Until == "" {
		return now.Add(time.Duration(s.For))
	}
	return max(now, s.Until.Millis())
}

// Moment is a date and time with an offset, as RFC 3339 writes it.
type Moment string

// Millis returns the moment in UTC milliseconds; zero where the text is no moment.
func (m Moment) Millis() Millis {
	t, err := time.Parse(time.RFC3339, string(m))
	if err != nil {
		return 0
	}
	return MillisOf(t)
}

// CheckDocument holds a moment against its form.
func (m Moment) CheckDocument(at *document.Path) []FieldError {
	if m == "" {
		return nil
	}
	if _, err := time.Parse(time.RFC3339, string(m)); err != nil {
		return []FieldError{{
			Field: at.String(), Code: document.CodeInvalid, Value: document.Shown(string(m)),
			Message: "want a moment with its offset, such as 2026-03-29T04:00:00Z or 2026-03-29T04:00:00+02:00",
		}}
	}
	return nil
}

// DescribeDocument describes a moment.
func (Moment) DescribeDocument(*document.Schemas) document.Schema {
	return document.Schema{"type": "string", "format": "date-time"}
}
