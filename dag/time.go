package dag

import "time"

// Millis is a moment in UTC milliseconds since 1970; zero means none. It is the
// form in which moments are stored, because a local date and time repeats itself
// for an hour each autumn.
type Millis int64

// MillisOf returns the moment t, cut to milliseconds; the zero Time gives zero.
func MillisOf(t time.Time) Millis {
	if t.IsZero() {
		return 0
	}
	return Millis(t.UnixMilli())
}

// Time returns the moment in UTC; zero gives the zero Time.
func (m Millis) Time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(m)).UTC()
}

// Add returns the moment d later, cut to milliseconds.
func (m Millis) Add(d time.Duration) Millis { return m + Millis(d.Milliseconds()) }

// Sub returns the time from o to m.
func (m Millis) Sub(o Millis) time.Duration { return time.Duration(m-o) * time.Millisecond }
