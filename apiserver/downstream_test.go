package apiserver

import (
	"fmt"
	"strings"
	"testing"
)

// waits saves a workflow that waits for others, each "workflow" or "project.workflow".
func (b *bench) waits(project, name, extra string, others ...string) {
	b.t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "name: %s\n%stasks:\n  - name: ready\n    type: dependent\n    check:\n      all:\n", name, extra)
	for _, o := range others {
		where, flow, far := strings.Cut(o, ".")
		if !far {
			where, flow = "", o
		}
		fmt.Fprintf(&text, "        - {project: '%s', workflow: '%s', date: last1Days}\n", where, flow)
	}
	b.must(201, "PUT", "/api/v1/projects/"+project+"/workflows/"+name, strings.ReplaceAll(text.String(), "project: '', ", ""), "Content-Type", yamlType)
}

func shownParts(p BackfillPlan) string {
	var names []string
	for _, part := range p.Parts {
		names = append(names, fmt.Sprintf("%s/%s:%d", part.Project, part.Workflow, len(part.Dates)))
	}
	for _, w := range p.LeftOut {
		names = append(names, fmt.Sprintf("-%s/%s:%s", w.Project, w.Workflow, w.Why))
	}
	return strings.Join(names, " ")
}

func TestWhatWaitsForAWorkflowIsFilledAfterIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	b.must(201, "PUT", "/api/v1/projects/beta", "")
	b.waits("alpha", "unrelated", "", "unrelated")
	b.waits("alpha", "report", "", "DAILY")
	b.waits("beta", "mail", "", "alpha.report", "alpha.daily") // waits for two that wait for each other's like
	b.waits("alpha", "board", "", "report", "beta.mail")
	b.waits("alpha", "asks", "params: {must: {type: string}}\n", "daily")
	b.waits("alpha", "behind", "", "asks")
	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/daily", twoTasks+"  - {name: again, type: dependent, check: {all: [{workflow: board, date: last1Days}]}}\n",
		"Content-Type", yamlType, "If-Match", "*") // a circle
	const body = `{"from":"2026-03-01","to":"2026-03-03","downstream":true`
	const want = "alpha/daily:3 alpha/report:3 beta/mail:3 alpha/board:3 -alpha/asks:params"
	if got := shownParts(b.planned(body + "}")); got != want {
		t.Errorf("the plan is %s, want %s", got, want)
	}
	if got := shownParts(b.planned(strings.Replace(body, "true", "false", 1) + "}")); got != "alpha/daily:3" {
		t.Errorf("without downstream the plan is %s", got)
	}
	// Somebody who may only look into beta.
	caller := b.person("ann", "alpha", roleOperator, false)
	ask := func(want string) {
		t.Helper()
		w := b.do(asked{method: "POST", path: backfills + "?preview=true", body: body + "}", token: caller})
		got := decode[struct {
			ID string `json:"backfill_id"`
			BackfillPlan
		}](t, w)
		if s := shownParts(got.BackfillPlan); s != want {
			t.Errorf("the plan is %s, want %s", s, want)
		}
	}
	ask("alpha/daily:3 alpha/report:3 alpha/board:3 -alpha/asks:params")
	b.grant("ann", "beta", roleViewer)
	ask("alpha/daily:3 alpha/report:3 alpha/board:3 -beta/mail:not_allowed -alpha/asks:params")

	one := b.filled(body + "}")
	dates := decode[List[BackfillDate]](t, b.must(200, "GET", one+"/dates", "")).Items
	if len(dates) != 12 || dates[2].Workflow != "daily" || dates[3].Workflow != "report" || dates[6].Project != "beta" || dates[3].ScheduleTime != dates[0].ScheduleTime {
		t.Errorf("dates %+v", dates)
	}
	p := decode[Problem](t, b.must(422, "POST", backfills+"?preview=true", `{"from":"2000-01-01","to":"2015-01-01","downstream":true}`))
	if p.Errors[0].Field != "downstream" || p.Errors[0].Code != "too_many" {
		t.Errorf("too many: %+v", p)
	}
}

func TestTheNewestFirstIsRefusedWhereAWorkflowWaitsForItself(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	b.waits("alpha", "chain", "", "chain", "daily")
	const chain = "/api/v1/projects/alpha/workflows/chain/backfills?preview=true"
	b.must(200, "POST", chain, `{"from":"2026-03-01","to":"2026-03-03"}`)
	p := decode[Problem](t, b.must(422, "POST", chain, `{"from":"2026-03-01","to":"2026-03-03","order":"newest"}`))
	if p.Errors[0].Field != "order" {
		t.Errorf("refused: %+v", p)
	}
	b.must(422, "POST", backfills+"?preview=true", `{"from":"2026-03-01","to":"2026-03-03","order":"newest","downstream":true}`)
	b.must(200, "POST", backfills+"?preview=true", `{"from":"2026-03-01","to":"2026-03-03","order":"newest"}`)
}
