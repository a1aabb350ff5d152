package apiserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// judged is a schedule of which the first fires of an hour to come were missed, skipped and fired; it returns its path, its
// fires and a query of all of them.
func judged(b *bench) (one string, sch sql.Schedule, fires []schedule.Fire, span string) {
	b.t.Helper()
	one = schedules + "/minutely"
	b.must(201, "PUT", one, `{"cron": "* * * * *"}`)
	until := dag.MillisOf(time.Now().Add(time.Hour).Truncate(time.Minute))
	sch, fires = b.plannedUntil("minutely", until)
	var verdicts []sql.Verdict
	for i, v := range []sql.Verdict{
		{State: schedule.Missed, Reason: schedule.ReasonNone}, {State: schedule.Skipped, Reason: schedule.ReasonOverlap}, {State: schedule.Fired},
	} {
		v.Source, v.At = sch.ID, fires[i].At
		verdicts = append(verdicts, v)
	}
	if _, err := b.db.SettleFires(b.t.Context(), verdicts, "m1:a", 7); err != nil {
		b.t.Fatal(err)
	}
	return one, sch, fires, "?" + url.Values{"from": {sch.CreatedAt.Time().Add(time.Millisecond).Format(time.RFC3339Nano)}, "to": {until.Time().Format(time.RFC3339Nano)}}.Encode()
}

func TestAMissedFireIsRunByHand(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	one, sch, fires, span := judged(b)
	at := func(i int) string { return fires[i].At.Time().Format(time.RFC3339) }
	wish := fmt.Sprintf(`{"at": [%q, %q, %q, %q]}`, at(1), at(0), at(2), at(3))
	got := decode[struct {
		Fires   []MadeUpFire
		LeftOut []Time `json:"left_out"`
	}](t, b.must(202, "POST", one+"/fires/run", wish))
	if len(got.Fires) != 2 || got.Fires[0].At != Time(fires[0].At) || !got.Fires[0].Started || !got.Fires[1].Started || got.Fires[0].InstanceID == got.Fires[1].InstanceID {
		t.Fatalf("run are %+v, want the missed and the skipped one", got.Fires)
	}
	if fmt.Sprint(got.LeftOut) != fmt.Sprint([]Time{Time(fires[2].At), Time(fires[3].At)}) {
		t.Errorf("left out are %v, want the one that fired and the one to come", got.LeftOut)
	}
	in := decode[Instance](t, b.must(200, "GET", fmt.Sprint("/api/v1/instances/", got.Fires[0].InstanceID), ""))
	if in.ScheduleTime != Time(fires[0].At) || in.CreatedBy != adminName {
		t.Errorf("it is %+v", in)
	}
	again := decode[struct{ Fires []MadeUpFire }](t, b.must(202, "POST", one+"/fires/run", wish))
	if len(again.Fires) != 2 || again.Fires[0].Started || again.Fires[0].InstanceID != got.Fires[0].InstanceID {
		t.Errorf("run again are %+v, want the same", again.Fires)
	}
	ledger := decode[List[Fire]](t, b.must(200, "GET", one+"/fires"+span, "")).Items
	if ledger[0].State != "missed" || ledger[0].InstanceID != got.Fires[0].InstanceID || ledger[1].State != "skipped" {
		t.Errorf("the ledger is %+v, want the outcomes as they were", ledger[:2])
	}
	prove := func() ScheduleProof { return decode[ScheduleProof](t, b.must(200, "GET", one+"/proof"+span, "")) }
	if p := prove(); !p.Holds || p.Outcomes["missed"] != 1 || p.Outcomes["skipped"] != 1 || p.Outcomes["fired"] != 1 || p.Planned != int64(len(fires)) {
		t.Errorf("the proof is %+v", p)
	}
	e := decode[Explanation](t, b.must(200, "GET", one+"/explain?at="+at(0), ""))
	if e.Code != "fire_missed" || !strings.Contains(e.Text, fmt.Sprintf("instance %d was started in its place", got.Fires[0].InstanceID)) {
		t.Errorf("explained as %+v", e)
	}
	b.exec(`UPDATE fire SET instance_id = 999999 WHERE source_id = ? AND planned_at = ?`, sch.ID, fires[0].At)
	if p := prove(); p.Holds || len(p.NoInstance) != 1 {
		t.Errorf("when its instance is gone the proof is %+v", p)
	}
	for _, body := range []string{`{}`, `{"at": []}`, `{"at": ["noon"]}`, `{"at": [` + strings.Repeat(`"2026-01-01T00:00:00Z", `, 100) + `"2026-01-01T00:00:00Z"]}`} {
		b.must(422, "POST", one+"/fires/run", body)
	}
	b.must(404, "POST", schedules+"/nothing/fires/run", wish)
}

// What retention has pruned stands in the proof as the sums of its days: what was planned is the sum of what became of it, as
// before.
func TestAProofAddsUpAfterPruning(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	one, _, fires, _ := judged(b)
	day := fires[0].At.Time().Truncate(24 * time.Hour)
	span := "?" + url.Values{"from": {day.Format(time.RFC3339)}, "to": {day.Add(48 * time.Hour).Format(time.RFC3339)}}.Encode()
	before := decode[ScheduleProof](t, b.must(200, "GET", one+"/proof"+span, ""))
	if n, err := b.db.SweepFires(t.Context(), fires[3].At); err != nil || n != 3 {
		t.Fatalf("swept %d, %v, want the three that came to an outcome", n, err)
	}
	after := decode[ScheduleProof](t, b.must(200, "GET", one+"/proof"+span, ""))
	sum := int64(0)
	for _, n := range after.Outcomes {
		sum += n
	}
	if !after.Holds || after.Pruned != 3 || after.Planned != sum || sum != int64(len(fires)) || fmt.Sprint(after.Outcomes) != fmt.Sprint(before.Outcomes) || !after.Compared || after.Why != "" {
		t.Errorf("after pruning the proof is %+v, before %+v", after, before)
	}
	b.exec(`UPDATE fire_day SET fires = fires + 1 WHERE state = 'fired'`)
	p := decode[ScheduleProof](t, b.must(200, "GET", one+"/proof"+span, ""))
	if p.Verdict != "fails" || len(p.WrongDays) != 1 || p.WrongDays[0].Counted != p.WrongDays[0].Planned+1 || p.Planned != sum {
		t.Errorf("with one too many in the sums the proof is %+v", p)
	}
}

// The console has words for every code by which a schedule or a fire is explained: the list is what the sources hold.
func TestEveryExplanationOfAScheduleHasItsCodeInTheList(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, state := range []schedule.State{schedule.Planned, schedule.Waiting, schedule.Fired, schedule.Skipped, schedule.Missed, schedule.Duplicate} {
		found["fire_"+string(state)] = true
	}
	code := regexp.MustCompile(`"((?:schedule|fire)_[a-z_]+)"`)
	for _, file := range []string{"schedule_explain.go", "schedule_after.go", "schedule_webhook.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range code.FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
		}
	}
	text, err := json.MarshalIndent(slices.Sorted(maps.Keys(found)), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "schedule_codes.json", append(text, '\n'))
}
