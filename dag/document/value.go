package document

import (
	"errors"
	"strings"
)

// Text is a text that may also be written as a number or a boolean; it is then the
// characters that stood there.
type Text string

// ReadDocument takes any scalar.
func (t *Text) ReadDocument(d *Decoder, n *Node, at *Path) {
	if n.Kind == List || n.Kind == Map || n.Kind == Null {
		d.Want(n, at, "a text")
		return
	}
	*t = Text(n.Text)
}

// ReadDocument reads the form of ParseDuration.
func (v *Duration) ReadDocument(d *Decoder, n *Node, at *Path) {
	if n.Kind != String && n.Text != "0" {
		d.Want(n, at, durationForm)
		return
	}
	parsed, err := ParseDuration(n.Text)
	switch {
	case errors.Is(err, ErrDurationRange):
		d.Fail(n, at, CodeOutOfRange, "the duration "+Shown(n.Text)+" is out of range: it is longer than can be counted")
	case err != nil:
		d.Fail(n, at, CodeWrongType, "want "+durationForm+", not "+Quoted(n.Text))
	default:
		*v = Duration(parsed)
	}
}

// Entry is one name of a map and its value.
type Entry[T any] struct {
	Name  string
	Value T
}

// Entries is a map of names that keeps the order of the text.
type Entries[T any] []Entry[T]

// ReadDocument reads a map.
func (e *Entries[T]) ReadDocument(d *Decoder, n *Node, at *Path) {
	if n.Kind != Map {
		d.Want(n, at, "a map of names and values")
		return
	}
	*e = make(Entries[T], len(n.Keys))
	for i := range n.Keys {
		(*e)[i].Name = n.Keys[i].Name
		d.Read(&n.Items[i], &(*e)[i].Value, at.Key(n.Keys[i].Name))
	}
}

// CheckDocument checks each value.
func (e Entries[T]) CheckDocument(at *Path) []FieldError {
	var errs []FieldError
	for i := range e {
		errs = append(errs, Check(&e[i].Value, at.Key(e[i].Name))...)
	}
	return errs
}

// IsNumber tells whether s is a number as RFC 8259 writes it, of any size: no plus
// sign, no leading zero.
func IsNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if rest, ok := strings.CutPrefix(s, "."); ok {
		n := digits(rest)
		if n == 0 {
			return false
		}
		s = rest[n:]
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n := digits(s)
		return n > 0 && n == len(s)
	}
	return s == ""
}

// IsInteger tells whether s is a whole number as JSON writes it, of any size, without
// a fraction or exponent.
func IsInteger(s string) bool {
	return IsNumber(s) && digits(strings.TrimPrefix(s, "-")) == len(strings.TrimPrefix(s, "-"))
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
