package dag

import (
	"errors"
	"strings"
	"testing"
	"time"

	dates "github.com/porpoise/porpoise/dag/moment"
)

const datedWorkflow = `
name: w
params:
  day: $[yyyyMMdd-1]
  month: {default: "$[add_months(yyyyMM,-${system_task_count})]", description: not known at save}
  given: $[yyyy]
tasks:
  - name: t
    type: http
    url: http://x/${day}/${own}/${given}
    params: {own: "$[HHmm-1/24] of ${day}", back: 2, far: "$[yyyyMMdd-${day}]"}
    env: {E: "from $[yyyyMMdd-${back}] to ${day}, $$[x], $${y}, $[0]"}
`

func TestDatesCountFromTheScheduleTimeInItsTimezone(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("  month: {default: \"$[add_months(yyyyMM,-${system_task_count})]\", description: not known at save}\n", "", `, far: "$[yyyyMMdd-${day}]"`, "").Replace(datedWorkflow)
	in := instanceOf(mustPlan(t, text), map[string]string{"given": "$[yyyy]"})
	shanghai, err := dates.Location("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	at := MillisOf(time.Date(2024, 2, 29, 16, 30, 0, 0, time.UTC))
	for _, c := range []struct {
		facts          Facts
		url, e, system string
	}{
		{Facts{ScheduleTime: at, Now: 1}, "http://x/20240228/1530 of 20240228/$[yyyy]", "from 20240227 to 20240228, $[x], ${y}, $[0]", "20240229163000"},
		{Facts{ScheduleTime: at, Location: shanghai}, "http://x/20240229/2330 of 20240229/$[yyyy]", "from 20240228 to 20240229, $[x], ${y}, $[0]", "20240301003000"},
		{Facts{Now: at, Location: shanghai}, "http://x/20240229/2330 of 20240229/$[yyyy]", "from 20240228 to 20240229, $[x], ${y}, $[0]", "20240301003000"},
	} {
		run, err := Resolve(in, 0, c.facts)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(run.Spec), `"`+c.url+`"`) || run.Env["E"] != c.e || run.Env["system_datetime"] != c.system {
			t.Errorf("%+v gives %s, E=%q and system_datetime=%s, want %q, %q and %s", c.facts, run.Spec, run.Env["E"], run.Env["system_datetime"], c.url, c.e, c.system)
		}
	}
}

func TestDatesThatCannotBeWorkedOutFailAtTheirField(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("system_task_count", "system_biz_date").Replace(datedWorkflow)
	plan := mustPlan(t, text) // how far it is is known only when it runs
	_, err := Resolve(instanceOf(plan, nil), 0, facts())
	var wrong FieldError
	if !errors.As(err, &wrong) || wrong.Field != "params.month" || !strings.Contains(wrong.Message, "too large") {
		t.Errorf("Resolve = %v, want the months at params.month", err)
	}
	in := instanceOf(plan, map[string]string{"month": "x", "given": "$[yyyy]", "day": "1] $[yyyy"})
	if _, err = Resolve(in, 0, facts()); !errors.As(err, &wrong) || wrong.Field != "tasks[0].params.far" || !strings.Contains(wrong.Message, "can't stand in a time expression") {
		t.Errorf("Resolve = %v, want the value refused at tasks[0].params.far", err)
	}
	in.Params["day"] = "3"
	run, err := Resolve(in, 0, facts())
	if err != nil || run.Env["far"] != "20240227" {
		t.Errorf("Resolve gives far=%q, %v, want 20240227", run.Env["far"], err)
	}
}

func TestTracingShowsTheDatesWorkedOut(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("system_task_count", "system_task_name").Replace(datedWorkflow)
	text = strings.Replace(text, `  month: {default: "$[add_months(yyyyMM,-${system_task_name})]", description: not known at save}`+"\n", "", 1)
	trace, err := TraceTask(instanceOf(mustPlan(t, text), map[string]string{"day": "5"}), 0, facts())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"day": "5", "given": "2024", "own": "2330 of 5", "far": "20240225"}
	for _, v := range trace.Values {
		if w, ok := want[v.Name]; ok && v.Chain[0].Value != w {
			t.Errorf("%s is %q, want %q", v.Name, v.Chain[0].Value, w)
		}
	}
	if trace.Env["E"] != "from 20240228 to 5, $[x], ${y}, $[0]" {
		t.Errorf("E = %q", trace.Env["E"])
	}
}
