package schedule

import (
	"fmt"
	"slices"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/backfill"
	"github.com/porpoise/porpoise/dag/cron"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/dag/moment"
)

const (
	// MaxAt bounds the moments of a schedule without a cron expression.
	MaxAt = 1000
	// maxParams bounds the values that a schedule gives to parameters, as a start's are.
	maxParams = 1000
	// leastMove is how near to each other fires may be that a calendar moves to other days: 24 on each.
	leastMove = time.Hour
	// lastYear is the last whose moments a schedule may name; a later one is a mistake.
	lastYear = 2200
)

// Plan is a schedule made ready to fire. It never changes and may be used by any number of goroutines.
type Plan struct {
	id         int64
	cron       cron.Expression // where at is nil
	at         []dag.Millis    // in order, each once
	untimed    bool            // ends or calls fire, and no moment does
	loc        *time.Location
	start, end dag.Millis // both included; end is never where there is none
	skip, only []*days
	excluded   string // exclude, next or previous; "" without a calendar
	jitter     time.Duration

	policy Late
	most   int
	maxAge time.Duration
	grace  time.Duration
}

// What a fire does on a day that calendars leave out.
const (
	moveSkip     = "skip"
	moveNext     = "next"
	movePrevious = "previous"
)

// CalendarNames returns the names of the project's calendars that the schedule asks for, folded and each once, in
// order. business_days is not among them: it is always there.
func (s Spec) CalendarNames() []string {
	if s.Calendar == nil {
		return nil
	}
	var names []string
	for _, name := range slices.Concat(s.Calendar.Skip, s.Calendar.Only) {
		if key := dag.FoldName(name); key != BusinessDays {
			names = append(names, key)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Compile checks a schedule and makes it ready to fire. id is the schedule's, or 0 where it has none yet: it decides
// the jitter. calendars are those of its project by their folded names; shortest is the least time that is allowed
// between two fires, 0 for any. It returns everything that is wrong at once, each with its field.
func (s Spec) Compile(id int64, calendars map[string]Calendar, shortest time.Duration) (*Plan, []dag.FieldError) {
	c := &compiler{plan: &Plan{id: id, loc: time.UTC}}
	if !s.ByClock() {
		c.zone(&s)
		c.untimed(&s)
		c.starts(&s)
		if len(c.wrong) > 0 {
			return nil, c.wrong
		}
		return c.plan, nil
	}
	c.when(&s)
	gap, repeats := c.gap()
	if repeats && gap < shortest {
		field := "cron"
		if s.Cron == "" {
			field = "at"
		}
		c.fail(field, document.CodeOutOfRange, s.Cron, "two fires are %s apart, at least %s is allowed",
			document.FormatDuration(gap), document.FormatDuration(shortest))
	}
	c.calendars(s.Calendar, calendars, gap, repeats)
	if c.plan.jitter = c.duration("jitter", s.Jitter); repeats && c.plan.jitter >= gap {
		c.fail("jitter", document.CodeOutOfRange, s.Jitter, "must be shorter than the shortest time between two fires, %s", document.FormatDuration(gap))
	}
	c.misfire(s.Misfire)
	c.starts(&s)
	if len(c.wrong) > 0 {
		return nil, c.wrong
	}
	if c.plan.neverFires() {
		c.fail(c.whenField(&s), cron.CodeNeverFires, s.Cron, "there is no fire between start and end")
		return nil, c.wrong
	}
	return c.plan, nil
}

// NeverAgain says what keeps a schedule that Compile takes from firing after a moment, for good; nil where nothing does.
func (s Spec) NeverAgain(after dag.Millis, calendars map[string]Calendar) *dag.FieldError {
	c := &compiler{}
	fires := func(s Spec) bool {
		plan, wrong := s.Compile(0, calendars, 0)
		if len(wrong) > 0 {
			return false
		}
		_, ok := plan.NextOn(after)
		return ok
	}
	if !s.ByClock() || fires(s) {
		return nil
	}
	endless, free := s, s
	endless.End, free.Calendar = "", nil
	switch {
	case s.End != "" && fires(endless):
		c.fail("end", cron.CodeNeverFires, s.End, "it would never fire: the end is over, or there is no fire before it")
	case s.Calendar != nil && fires(free):
		c.fail("calendar", cron.CodeNeverFires, "", "it would never fire: calendars leave out every day that it fires on")
	case s.Cron == "":
		c.fail("at", cron.CodeNeverFires, "", "it would never fire: all moments are over")
	default:
		c.fail("cron", cron.CodeNeverFires, s.Cron, "it would never fire: all of its moments are over, or not between start and end")
	}
	return &c.wrong[0]
}

type compiler struct {
	plan  *Plan
	wrong []dag.FieldError
}

func (c *compiler) fail(field, code, value, format string, args ...any) {
	if len(c.wrong) < document.MaxErrors {
		c.wrong = append(c.wrong, dag.FieldError{Field: field, Code: code, Value: document.Shown(value), Message: fmt.Sprintf(format, args...)})
	}
}

func (c *compiler) whenField(s *Spec) string {
	if s.Cron != "" {
		return "cron"
	}
	return "at"
}

// when reads what says when: the timezone, cron or at, start and end.
func (c *compiler) when(s *Spec) {
	c.zone(s)
	p := c.plan
	p.start, p.end = 0, never
	if s.Start != "" {
		p.start, _ = c.moment("start", s.Start)
	}
	if s.End != "" {
		_, p.end = c.moment("end", s.End)
		if s.Start != "" && p.end < p.start {
			c.fail("end", document.CodeOutOfRange, s.End, "is before start")
		}
	}
	switch {
	case s.Cron != "" && len(s.At) > 0:
		c.fail("at", dag.CodeConflict, "", "a schedule has either cron or at")
	case s.Cron == "" && len(s.At) == 0:
		c.fail("cron", document.CodeRequired, "", "a schedule needs cron, a list of moments in at, after or webhook")
	case s.Dialect != "" && !slices.Contains(cron.Dialects(), s.Dialect):
		c.fail("dialect", document.CodeNotInEnum, s.Dialect, "want unix or quartz")
	case s.Dialect != "" && s.Cron == "":
		c.fail("dialect", dag.CodeConflict, s.Dialect, "means something only together with cron")
	case s.Cron != "":
		c.cron(s)
	default:
		c.at(s.At)
	}
}

func (c *compiler) zone(s *Spec) {
	loc, err := moment.Location(s.Timezone)
	if err != nil {
		c.fail("timezone", document.CodeInvalid, s.Timezone, "%v", err)
		loc = time.UTC
	}
	c.plan.loc = loc
}

func (c *compiler) cron(s *Spec) {
	e, err := cron.Parse(s.Cron, cron.Dialect(s.Dialect))
	c.wrong = append(c.wrong, cron.FieldErrors("cron", err)...)
	// What counts, such as @every 36h, counts from start: the same fires whoever reckons, and whenever.
	c.plan.cron = e.From(time.UnixMilli(int64(c.plan.start)))
}

func (c *compiler) at(moments []string) {
	if len(moments) > MaxAt {
		c.fail("at", document.CodeTooLarge, "", "%d moments, at most %d are allowed", len(moments), MaxAt)
		return
	}
	list := make([]dag.Millis, 0, len(moments))
	for i, text := range moments {
		if at, _ := c.moment(fmt.Sprintf("at[%d]", i), text); at > 0 {
			list = append(list, at)
		}
	}
	slices.Sort(list)
	c.plan.at = slices.Compact(list)
}

// moment reads one; zeros where it is wrong.
func (c *compiler) moment(field, text string) (first, last dag.Millis) {
	from, to, err := backfill.Moment(text, c.plan.loc)
	if err != nil {
		c.fail(field, document.CodeInvalid, text, "%v", err)
		return 0, 0
	}
	if from.Year() < 1971 || to.Year() > lastYear {
		c.fail(field, document.CodeOutOfRange, text, "must be between 1971 and %d", lastYear)
		return 0, 0
	}
	return dag.MillisOf(from), dag.MillisOf(to)
}

// gap is the shortest time between two fires; false where there are no two.
func (c *compiler) gap() (time.Duration, bool) {
	if len(c.plan.at) == 0 {
		if c.plan.cron.String() == "" {
			return 0, false
		}
		return c.plan.cron.Shortest()
	}
	shortest := time.Duration(0)
	for i := 1; i < len(c.plan.at); i++ {
		if gap := c.plan.at[i].Sub(c.plan.at[i-1]); shortest == 0 || gap < shortest {
			shortest = gap
		}
	}
	return shortest, shortest > 0
}

func (c *compiler) calendars(rule *CalendarRule, known map[string]Calendar, gap time.Duration, repeats bool) {
	if rule == nil {
		return
	}
	p := c.plan
	p.skip = c.named("calendar.skip", rule.Skip, known)
	p.only = c.named("calendar.only", rule.Only, known)
	if len(rule.Skip)+len(rule.Only) == 0 {
		c.fail("calendar", document.CodeRequired, "", "name calendars in skip or in only")
	}
	switch p.excluded = rule.Excluded; rule.Excluded {
	case "":
		p.excluded = moveSkip
	case moveSkip:
	case moveNext, movePrevious:
		if repeats && gap < leastMove {
			c.fail("calendar.excluded", dag.CodeConflict, rule.Excluded, "fires that are less than %s apart can't be moved to another day: want skip", document.FormatDuration(leastMove))
		}
	default:
		c.fail("calendar.excluded", document.CodeNotInEnum, rule.Excluded, "want skip, next or previous")
	}
}

// named returns calendars by their names. Those that are wrong are left out, and said.
func (c *compiler) named(field string, names []string, known map[string]Calendar) []*days {
	list := make([]*days, 0, len(names))
	for i, name := range names {
		key := dag.FoldName(name)
		calendar, ok := known[key]
		if key == BusinessDays {
			calendar, ok = Calendar{Days: []string{"mon", "tue", "wed", "thu", "fri"}}, true
		}
		if !ok {
			c.fail(fmt.Sprintf("%s[%d]", field, i), CodeUnknownCalendar, name, "the project has no calendar %s", document.Quoted(name))
			continue
		}
		read, wrong := calendar.read("days")
		if len(wrong) > 0 {
			c.fail(fmt.Sprintf("%s[%d]", field, i), document.CodeInvalid, name, "the calendar can't be read: %s", wrong[0].Error())
			continue
		}
		list = append(list, read)
	}
	return list
}

// CodeUnknownCalendar is the code of an error of a schedule: it names a calendar that its project does not have.
const CodeUnknownCalendar = "unknown_calendar"

func (c *compiler) misfire(m *Misfire) {
	p := c.plan
	p.policy, p.most, p.grace = RunLatest, defaultAll, defaultGrace
	if m == nil {
		return
	}
	switch m.Policy {
	case RunAll, RunLatest, RunNone:
		p.policy = m.Policy
	case "":
		c.fail("misfire.policy", document.CodeRequired, "", "want all, latest or none")
	default:
		c.fail("misfire.policy", document.CodeNotInEnum, string(m.Policy), "want all, latest or none")
	}
	switch {
	case m.Max == 0:
	case m.Max < 0 || m.Max > maxAll:
		c.fail("misfire.max", document.CodeOutOfRange, fmt.Sprint(m.Max), "must be between 1 and %d", maxAll)
	case p.policy != RunAll:
		c.fail("misfire.max", dag.CodeConflict, fmt.Sprint(m.Max), "means something only where the policy is all")
	default:
		p.most = m.Max
	}
	if p.maxAge = c.duration("misfire.max_age", m.MaxAge); p.maxAge > 0 && p.policy == RunNone {
		c.fail("misfire.max_age", dag.CodeConflict, m.MaxAge, "means nothing where the policy is none")
	}
	if m.Grace != "" {
		p.grace = c.duration("misfire.grace", m.Grace)
	}
}

// duration reads one that is not negative; "" is zero.
func (c *compiler) duration(field, text string) time.Duration {
	if text == "" {
		return 0
	}
	d, err := document.ParseDuration(text)
	switch {
	case err != nil:
		c.fail(field, document.CodeInvalid, text, "%v", err)
	case d < 0 || d > maxDuration:
		c.fail(field, document.CodeOutOfRange, text, "must be between 0s and %s", document.FormatDuration(maxDuration))
	default:
		return d
	}
	return 0
}

// maxDuration bounds the durations of a schedule: a year.
const maxDuration = 366 * 24 * time.Hour

// starts checks what the instances are started with, as far as it needs no definition.
func (c *compiler) starts(s *Spec) {
	if len(s.Params) > maxParams {
		c.fail("params", document.CodeTooLarge, "", "%d values, at most %d are allowed", len(s.Params), maxParams)
	}
	if s.WorkerGroup != "" {
		c.wrong = append(c.wrong, dag.CheckName("worker_group", s.WorkerGroup)...)
	}
	if _, ok := dag.ParsePriority(s.Priority); s.Priority != "" && !ok {
		c.fail("priority", document.CodeNotInEnum, s.Priority, "want highest, high, medium, low or lowest")
	}
	switch s.OnFailure {
	case "", dag.OnFailureContinue, dag.OnFailureEnd, dag.OnFailureCompensate:
	default:
		c.fail("on_failure", document.CodeNotInEnum, string(s.OnFailure), "want continue, end or compensate")
	}
	switch s.Overlap {
	case "", Allow, Wait, Skip, Replace:
	default:
		c.fail("overlap", document.CodeNotInEnum, string(s.Overlap), "want allow, wait, skip or replace")
	}
}
