package backfill

// State is how a backfill as a whole stands.
type State string

// The states of a backfill. A paused one starts nothing more until it is resumed; what runs goes on. The
// last three are final: no date starts any more, though some may still run.
const (
	Running   State = "running"
	Paused    State = "paused"
	Success   State = "success"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// States lists the states in their order.
func States() []State { return []State{Running, Paused, Success, Failed, Cancelled} }

// Final says that no date will start any more.
func (s State) Final() bool { return s != Running && s != Paused }

// DateState is how one date of a backfill stands.
type DateState string

// The states of a date. The first is before its instance, the last is of a date that never got one; a
// stopping one has been asked to stop. A failed date becomes a success where its instance is recovered.
const (
	DateWaiting   DateState = "waiting"
	DateRunning   DateState = "running"
	DateStopping  DateState = "stopping"
	DateSuccess   DateState = "success"
	DateFailed    DateState = "failed"
	DateCancelled DateState = "cancelled"
)

// DateStates lists the states of a date in their order.
func DateStates() []DateState {
	return []DateState{DateWaiting, DateRunning, DateStopping, DateSuccess, DateFailed, DateCancelled}
}

// Order says which dates come first.
type Order string

// The orders.
const (
	Oldest Order = "oldest"
	Newest Order = "newest"
)

// OnFailure says what the failure of a date means to those after it.
type OnFailure string

// With Continue the others run all the same; with Stop no more begin.
const (
	Continue OnFailure = "continue"
	Stop     OnFailure = "stop"
)

// MaxParallel bounds the dates that run at once.
const MaxParallel = 100

// MaxDates bounds the dates of one backfill, those of the workflows downstream counted in.
const MaxDates = 10_000

// Counts says how many dates of a backfill are in which state.
type Counts map[DateState]int

// Total is the number of all dates.
func (c Counts) Total() int {
	n := 0
	for _, k := range c {
		n += k
	}
	return n
}

// Live is the number of dates whose instance has not ended.
func (c Counts) Live() int { return c[DateRunning] + c[DateStopping] }

// Rules are what a backfill was asked to hold to.
type Rules struct {
	Parallel  int // dates at once, 1 or more
	OnFailure OnFailure
}

// Next says what a backfill in a state becomes when its dates stand as counted, and how many more may start
// now. A state that is final stays as it is.
func Next(state State, rules Rules, dates Counts) (next State, start int) {
	if state.Final() {
		return state, 0
	}
	if rules.OnFailure == Stop && dates[DateFailed] > 0 {
		return Failed, 0
	}
	if dates[DateWaiting] == 0 && dates.Live() == 0 {
		if dates[DateFailed] > 0 {
			return Failed, 0
		}
		return Success, 0
	}
	if state == Paused {
		return Paused, 0
	}
	return Running, max(0, min(dates[DateWaiting], rules.Parallel-dates.Live()))
}
