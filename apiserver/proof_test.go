package apiserver

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

func between(from, to dag.Millis) string {
	return "?" + url.Values{"from": {from.Time().Format(time.RFC3339Nano)}, "to": {to.Time().Format(time.RFC3339Nano)}}.Encode()
}

// A schedule of each second has 86,400 fires a day, which is what a proof is about where nothing else is asked.
func TestAProofLooksAtEveryFireOfADay(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	const one = schedules + "/secondly"
	b.must(201, "PUT", one, `{"cron": "* * * * * *"}`)
	const day = 24 * 60 * 60 * 1000
	from := dag.MillisOf(b.clock.Now().Add(-24 * time.Hour).Truncate(time.Second))
	b.exec(`UPDATE schedule SET created_at = ?, changed_at = ?, planned_until = ?`, from, from, from)
	sch, fires := b.plannedUntil("secondly", from+day)
	if len(fires) != 86_400 {
		t.Fatalf("%d fires are planned", len(fires))
	}
	span := between(from, from+day)
	prove := func() ScheduleProof { return decode[ScheduleProof](t, b.must(200, "GET", one+"/proof"+span, "")) }
	if p := prove(); p.Verdict != "holds" || !p.Compared || p.Planned != 86_400 {
		t.Errorf("the proof is %+v", p)
	}
	lost := fires[70_000].At
	b.exec(`DELETE FROM fire WHERE source_id = ? AND planned_at = ?`, sch.ID, lost)
	if p := prove(); p.Verdict != "fails" || !slices.Equal(p.Missing, []Time{Time(lost)}) || p.Planned != 86_400 {
		t.Errorf("with one lost the proof is %+v", p)
	}
	x := prover{s: b.server, sch: sch, from: from, asked: from + day, to: from + day, stop: time.Unix(0, 0)}
	if err := x.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := x.end(); p.Verdict != "unproven" || p.WhyCode != "no_time" || p.Until != Time(fires[provedAtOnce-1].At+1) {
		t.Errorf("where the time is up the proof is %+v", p)
	}
}

// Of what was planned by other rules nothing is known: it is neither right nor wrong.
func TestWhatCannotBeComparedIsUnproven(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	one, sch, fires, span := judged(b)
	prove := func(span string) ScheduleProof {
		return decode[ScheduleProof](t, b.must(200, "GET", one+"/proof"+span, ""))
	}
	if p := prove(span); p.Verdict != "holds" {
		t.Errorf("the proof is %+v", p)
	}
	b.exec(`UPDATE schedule SET revision = 2, changed_at = ? WHERE id = ?`, fires[3].At, sch.ID)
	if p := prove(span); p.Verdict != "unproven" || p.Holds || p.WhyCode != "before" || !p.Compared || p.Since != Time(fires[3].At) {
		t.Errorf("with other rules before the proof is %+v", p)
	}
	if p := prove(between(fires[0].At, fires[3].At)); p.Verdict != "unproven" || p.WhyCode != "changed" || p.Compared {
		t.Errorf("with other rules alone the proof is %+v", p)
	}
	b.exec(`DELETE FROM fire WHERE source_id = ? AND planned_at = ?`, sch.ID, fires[5].At)
	if p := prove(span); p.Verdict != "fails" || p.WhyCode != "before" {
		t.Errorf("with one lost since the proof is %+v", p)
	}
	b.exec(`UPDATE schedule SET revision = 1, planned_until = ? WHERE id = ?`, fires[0].At, sch.ID)
	b.exec(`DELETE FROM fire WHERE source_id = ?`, sch.ID)
	b.clock.advance(2 * time.Hour)
	if p := prove(span); p.Verdict != "unproven" || p.WhyCode != "unplanned" {
		t.Errorf("where no master plans the proof is %+v", p)
	}
}

func TestAnInstanceWithoutAFireIsFound(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	one, sch, fires, span := judged(b)
	b.must(202, "POST", one+"/trigger", "") // it is no fire, and needs none
	prove := func() ScheduleProof { return decode[ScheduleProof](t, b.must(200, "GET", one+"/proof"+span, "")) }
	if p := prove(); p.Verdict != "holds" {
		t.Errorf("the proof is %+v", p)
	}
	at := fires[4].At + 7
	id, _, err := b.db.Start(t.Context(), sql.Start{
		WorkflowID: sch.WorkflowID, ProjectID: sch.ProjectID, Version: 1, ScheduleTime: at, TriggerKey: sql.ScheduleKey(sch.ID), Priority: dag.PriorityMedium, At: at,
	})
	if err != nil {
		t.Fatal(err)
	}
	if p := prove(); p.Verdict != "fails" || !slices.Equal(p.NoFire, []Time{Time(at)}) {
		t.Errorf("with instance %d the proof is %+v", id, p)
	}
}

// busyStore is a store in which something happens before the first page of fires is read.
type busyStore struct {
	Store
	do func()
}

func (s *busyStore) FiresFrom(ctx context.Context, id int64, from, to dag.Millis, limit int) ([]sql.Fire, error) {
	if do := s.do; do != nil {
		s.do = nil
		do()
	}
	return s.Store.FiresFrom(ctx, id, from, to, limit)
}

// Fires may be pruned while a proof goes on: it begins anew and tells none as lost.
func TestAProofBearsThatFiresArePrunedMeanwhile(t *testing.T) {
	t.Parallel()
	busy := busyStore{}
	b := newBench(t, func(c *Config) { busy.Store = c.Store; c.Store = &busy })
	b.seed("alpha")
	one, _, fires, span := judged(b)
	busy.do = func() {
		if n, err := b.db.SweepFires(t.Context(), fires[3].At); err != nil || n != 3 {
			t.Errorf("swept %d, %v", n, err)
		}
	}
	p := decode[ScheduleProof](t, b.must(200, "GET", one+"/proof"+span, ""))
	if p.Verdict != "holds" || p.Pruned != 3 || p.Outcomes[string(schedule.Fired)] != 1 {
		t.Errorf("the proof is %+v", p)
	}
}

// The ledger is kept longer than instances: one that retention deleted is no fault.
func TestARetiredInstanceIsNotMissed(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	one, sch, fires, span := judged(b)
	prove := func() ScheduleProof { return decode[ScheduleProof](t, b.must(200, "GET", one+"/proof"+span, "")) }
	rows, err := b.db.FiresFrom(t.Context(), sch.ID, fires[2].At, fires[3].At, 1)
	if err != nil {
		t.Fatal(err)
	}
	b.finish(rows[0].Instance)
	for {
		n, err := b.db.Retire(t.Context(), dag.MillisOf(b.clock.Now().Add(24*time.Hour)))
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
	}
	if p := prove(); p.Verdict != "holds" || p.Retired != 1 {
		t.Errorf("the proof is %+v", p)
	}
	b.exec(`UPDATE fire SET instance_id = instance_id + 1 WHERE source_id = ? AND planned_at = ?`, sch.ID, fires[2].At)
	if p := prove(); p.Verdict != "fails" || !slices.Equal(p.NoInstance, []Time{Time(fires[2].At)}) || p.Retired != 0 {
		t.Errorf("with an instance that never was the proof is %+v", p)
	}
}

func TestProofsOfAllSchedulesAddUp(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	_, sch, fires, span := judged(b)
	for i := range provedTogether {
		b.must(201, "PUT", fmt.Sprint(schedules, "/n", i), `{"cron": "0 5 1 1 *"}`)
	}
	b.seed("beta")
	b.publish("beta", "report")
	b.must(201, "PUT", "/api/v1/projects/beta/workflows/report/schedules/other", `{"cron": "0 5 1 1 *"}`)
	proofs := func(query string) ProofOfSchedules {
		return decode[ProofOfSchedules](t, b.must(200, "GET", "/api/v1/schedules/proof"+span+query, ""))
	}
	p := proofs("")
	if p.Verdict != "holds" || p.Schedules != provedTogether+2 || p.Held != p.Schedules || p.Planned != int64(len(fires)) || p.Outcomes["fired"] != 1 || p.NextCursor != "" || len(p.Items) != 0 {
		t.Errorf("the proofs are %+v", p)
	}
	b.exec(`UPDATE schedule SET revision = 2, changed_at = ? WHERE name = 'other'`, fires[len(fires)-1].At)
	if p := proofs(""); p.Verdict != "unproven" || len(p.Items) != 1 || p.Items[0].Project != "beta" || p.Items[0].Name != "other" || p.Items[0].WhyCode != "changed" {
		t.Errorf("with one that was changed the proofs are %+v", p)
	}
	if p := proofs("&project=alpha"); p.Verdict != "holds" || p.Schedules != provedTogether+1 {
		t.Errorf("the proofs of a project are %+v", p)
	}
	b.exec(`DELETE FROM fire WHERE source_id = ? AND planned_at = ?`, sch.ID, fires[4].At)
	if p := proofs(""); p.Verdict != "fails" || p.Held != provedTogether || len(p.Items) != 2 || p.Items[0].Missing != 1 {
		t.Errorf("with one lost the proofs are %+v", p)
	}
	b.must(404, "GET", "/api/v1/schedules/proof?project=none", "")
}

func TestWhatIsFoldedIsUnproven(t *testing.T) {
	t.Parallel()
	b := newScheduleBench(t)
	one, _, fires, span := judged(b)
	if n, err := b.db.SweepFires(t.Context(), fires[3].At); err != nil || n != 3 {
		t.Fatalf("swept %d, %v", n, err)
	}
	if n, err := b.db.FoldDays(t.Context(), fires[0].At.Add(48*time.Hour)); err != nil || n == 0 {
		t.Fatalf("folded %d, %v", n, err)
	}
	if p := decode[ScheduleProof](t, b.must(200, "GET", one+"/proof"+span, "")); p.Verdict != "unproven" || p.WhyCode != "folded" {
		t.Errorf("the proof is %+v", p)
	}
}
