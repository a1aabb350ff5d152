package document

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a length of time as documents write it: 90s, 10m, 2h, 1d, 1h30m, 500ms.
// A day is 24 hours. It travels in JSON in the same form.
type Duration time.Duration

// durationForm is said to people wherever a duration is wrong.
const durationForm = "a duration such as 90s, 10m, 2h, 1d or 1h30m"

// ErrDuration says that a text is not a duration.
var ErrDuration = errors.New("want " + durationForm)

// ErrDurationRange says that a text is a duration too long to be counted.
var ErrDurationRange = errors.New("the duration is too long")

// units from the largest to the smallest; each may stand once, in this order.
var units = [...]struct {
	name string
	size time.Duration
}{
	{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond},
}

// ParseDuration reads a duration. A plain 0 is taken as well; a minus sign in front
// makes it negative, so that a range check can name it. The errors are ErrDuration
// and ErrDurationRange.
func ParseDuration(text string) (time.Duration, error) {
	if text == "0" {
		return 0, nil
	}
	rest, negative := strings.CutPrefix(text, "-")
	if rest == "" {
		return 0, ErrDuration
	}
	var total time.Duration
	next, over := 0, false
	for rest != "" {
		digits := 0
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		letters := digits
		for letters < len(rest) && rest[letters] >= 'a' && rest[letters] <= 'z' {
			letters++
		}
		unit := next
		for unit < len(units) && units[unit].name != rest[digits:letters] {
			unit++
		}
		if digits == 0 || unit == len(units) {
			return 0, ErrDuration
		}
		n, err := strconv.ParseInt(rest[:digits], 10, 64)
		if err != nil || n > int64((math.MaxInt64-total)/units[unit].size) {
			over = true // look on: a wrong form is said before a wrong range
		} else {
			total += time.Duration(n) * units[unit].size
		}
		next, rest = unit+1, rest[letters:]
	}
	if over {
		return 0, ErrDurationRange
	}
	if negative {
		total = -total
	}
	return total, nil
}

// FormatDuration writes d in the form that ParseDuration reads, cut to milliseconds.
func FormatDuration(d time.Duration) string {
	d = d.Truncate(time.Millisecond)
	if d == 0 {
		return "0s"
	}
	var b strings.Builder
	if d < 0 {
		b.WriteByte('-')
		d = -d
	}
	for _, u := range units {
		if n := d / u.size; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10))
			b.WriteString(u.name)
			d -= n * u.size
		}
	}
	return b.String()
}

// String returns the duration as documents write it.
func (v Duration) String() string { return FormatDuration(time.Duration(v)) }

// MarshalText writes the form that documents have.
func (v Duration) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the form that documents have.
func (v *Duration) UnmarshalText(text []byte) error {
	d, err := ParseDuration(string(text))
	*v = Duration(d)
	return err
}
