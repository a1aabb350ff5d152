package backfill

import "time"

// Only says which dates a backfill takes, by the runs that there are of them.
type Only string

// The choices.
const (
	All             Only = "all"
	Missing         Only = "missing"           // those that never ran
	OnlyFailed      Only = "failed"            // those whose latest run ended otherwise than well
	MissingOrFailed Only = "missing_or_failed" // both
)

// Had is what there is of a date already: the latest run of the whole workflow.
type Had string

// The kinds of what there is.
const (
	HadNone    Had = "none"
	HadOpen    Had = "open" // it has yet to end
	HadSuccess Had = "success"
	HadFailure Had = "failure" // failed, stopped, or set aside
)

// Leaves says whether a date that had such a run is left out.
func (o Only) Leaves(had Had) bool {
	switch o {
	case Missing:
		return had != HadNone
	case OnlyFailed:
		return had != HadFailure
	case MissingOrFailed:
		return had != HadNone && had != HadFailure
	case All:
	}
	return false
}

// minDone is how many dates must have ended before the rest can be reckoned from them.
const minDone = 2

// Left reckons how long the rest of a backfill takes when it goes on as it has so far: done dates have ended
// in the time that it took, and some are left. False where that says nothing yet.
func Left(took time.Duration, done, left int) (time.Duration, bool) {
	if done < minDone || took <= 0 {
		return 0, false
	}
	return time.Duration(float64(took) / float64(done) * float64(left)), true
}
