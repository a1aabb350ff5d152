package apiserver

import (
	"context"
	"net/http"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/cron"
	"github.com/porpoise/porpoise/dag/document"
)

// CronPreview says what a cron expression means, before a schedule is made of it.
type CronPreview struct {
	Cron string `json:"cron"`
	CronReading
	Timezone        string     `json:"timezone"`
	Words           CronWords  `json:"words"`
	ShortestSeconds int64      `json:"shortest_seconds" doc:"The shortest time between two fires by the clock on the wall; 0 where there are no two."`
	Fires           []CronFire `json:"fires" nullable:"false" doc:"The next ones; fewer than asked for where there are no more."`
}

// CronReading is by which rules an expression is read, and why by those.
type CronReading struct {
	Dialect         string `json:"dialect" enum:"unix,quartz" doc:"How days are counted and combined: in unix Sunday is 0 or 7, and a day counts that either day field names; in quartz Sunday is 1, and only one day field may be set."`
	DialectFrom     string `json:"dialect_from" enum:"given,fields" doc:"Why it is this dialect: it was asked for, or by the number of fields: five are unix, six and seven are quartz."`
	FollowsRealTime bool   `json:"follows_real_time" doc:"false: it stands for times on the wall, and a change of the clocks neither loses nor doubles one. true: minute or hour is a wildcard, so that it fires whenever the clock shows such a time."`
}

func readingOf(e cron.Expression, asked string) CronReading {
	out := CronReading{Dialect: string(e.Dialect()), DialectFrom: "fields", FollowsRealTime: e.FollowsRealTime()}
	if asked != "" {
		out.DialectFrom = "given"
	}
	return out
}

// CronWords is an expression in words.
type CronWords struct {
	English string `json:"en"`
	Chinese string `json:"zh-CN"`
}

// CronFire is one moment at which a schedule would fire.
type CronFire struct {
	At      Time   `json:"at"`
	Local   string `json:"local" format:"date-time" doc:"The same moment in the timezone, with its offset."`
	Mark    string `json:"mark,omitempty" enum:"gap,repeated" doc:"gap: the clock leaves the time out, and this is the first instant after it. repeated: the clock shows this time twice."`
	LeftOut string `json:"left_out,omitempty" doc:"With gap: the time that the clock leaves out, such as 02:30:00."`
}

type previewCron struct {
	Cron     string `query:"cron" required:"true" doc:"Five, six (seconds first) or seven fields (with a year), or a word such as @daily or @every 90s."`
	Timezone string `query:"timezone" doc:"Whose clock it is about, as an IANA name such as Europe/Berlin; absent is UTC."`
	Dialect  string `query:"dialect" enum:"unix,quartz" doc:"Absent: five fields are unix, six and seven are quartz."`
	N        int    `query:"n" default:"5" minimum:"1" maximum:"100" doc:"How many fires."`
	From     string `query:"from" maxLength:"64" doc:"Fires later than this, RFC 3339; absent is now."`
}

type cronPreviewAnswer struct{ Body CronPreview }

func (s *Server) cronRoutes() {
	add(s, spec{
		id: "preview-schedule", method: "GET", path: "/schedules/preview", tag: "workflows", summary: "Say what a cron expression means and when it fires next",
		access: access{object: noObject},
	}, s.previewCron)
}

func (s *Server) previewCron(_ context.Context, in *previewCron) (*cronPreviewAnswer, error) {
	expression, err := cron.Parse(in.Cron, cron.Dialect(in.Dialect))
	wrong := cron.FieldErrors("cron", err)
	loc, badZone := location(in.Timezone)
	wrong = append(wrong, badZone...)
	after := s.at()
	if in.From != "" {
		if after, err = parseTime(in.From); err != nil {
			wrong = append(wrong, dag.FieldError{Field: "from", Code: document.CodeInvalid, Value: shown(in.From), Message: err.Error()})
		}
		wrong = append(wrong, fromErrors(after)...)
	}
	if len(wrong) > 0 {
		return nil, problem(http.StatusBadRequest, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	out := CronPreview{
		Cron: in.Cron, CronReading: readingOf(expression, in.Dialect), Timezone: loc.String(),
		Words: CronWords{expression.Words(cron.English), expression.Words(cron.Chinese)}, Fires: []CronFire{},
	}
	if shortest, ok := expression.Shortest(); ok {
		out.ShortestSeconds = int64(shortest / time.Second)
	}
	for _, f := range expression.Fires(time.UnixMilli(int64(after)), loc, in.N) {
		out.Fires = append(out.Fires, CronFire{At: Time(dag.MillisOf(f.At)), Local: f.At.Format(time.RFC3339), Mark: string(f.Mark), LeftOut: f.LeftOut})
	}
	return &cronPreviewAnswer{Body: out}, nil
}
