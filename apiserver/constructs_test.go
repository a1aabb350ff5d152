package apiserver

import (
	"slices"
	"strings"
	"testing"
)

// many is a list of n numbers, as a definition has it.
func many(n int) string { return "[" + strings.Repeat("1, ", n-1) + "1]" }

// badConstructs are definitions in which one construct is wrong in every way in which it can be, and the fields
// and codes that the refusal names. The project p has a workflow child, which declares day, and a workflow w.
var badConstructs = []struct {
	name, text string
	want       []string
}{
	{"needs and join", `
  - {name: a, type: noop, needs: [nobody]}
  - {name: b, type: noop, needs: [c]}
  - {name: c, type: noop, needs: [b]}
  - {name: d, type: noop, needs: [a], join: b.state == "failed"}
  - {name: e, type: noop, needs: [a], join: a.state ==}
  - {name: f, type: noop, needs: [a], join: "1"}
  - {name: g, type: noop, needs: [a], join: sometimes}`, []string{
		"tasks[0].needs[0] unknown_task",
		"tasks[1].needs[0] cycle",
		"tasks[3].join unknown_task",
		"tasks[4].join expression",
		"tasks[5].join expression",
		"tasks[6].join unknown_name",
	}},
	{"when", `
  - {name: a, type: noop, when: "(x"}
  - {name: b, type: noop, when: "'text'"}
  - {name: c, type: noop, when: nothing == 1}
  - {name: d, type: noop, when: c.state == 'failed'}
  - {name: e, type: noop, when: "'${region}' == 'eu'"}`, []string{
		"tasks[0].when expression",
		"tasks[1].when expression",
		"tasks[2].when unknown_name",
		"tasks[3].when unknown_task",
	}},
	{"switch", `
  - {name: a, type: switch, cases: [{when: region ==, then: [b]}, {when: "1", then: [nobody]}, {when: planet == 1, then: [c]}], else: [d]}
  - {name: b, type: noop, needs: [a]}
  - {name: c, type: noop}
  - {name: d, type: noop, needs: [a]}`, []string{
		"tasks[0].cases[0].when expression",
		"tasks[0].cases[1].then[0] unknown_task",
		"tasks[0].cases[1].when expression",
		"tasks[0].cases[2].then[0] unknown_task",
		"tasks[0].cases[2].when unknown_name",
	}},
	{"conditions", `
  - {name: x, type: noop}
  - {name: a, type: conditions, needs: [x], cases: [{when: y.state == 'failed', then: [nobody]}, {when: x.state, then: [b]}], else: [c]}
  - {name: b, type: noop, needs: [a]}
  - {name: c, type: noop}`, []string{
		"tasks[1].cases[0].then[0] unknown_task",
		"tasks[1].cases[0].when unknown_task",
		"tasks[1].cases[1].when expression",
		"tasks[1].else[0] unknown_task",
	}},
	{"finally", `
  - {name: a, type: noop, finally: true}
  - {name: b, type: noop, needs: [a]}
  - {name: c, type: switch, finally: true, cases: [{when: "true", then: [nobody]}]}`, []string{
		"tasks[1].needs[0] conflict",
		"tasks[2].cases[0].then[0] unknown_task",
	}},
	{"repeat_until", `
  - {name: a, type: noop, repeat_until: {condition: "n >", max: 3}}
  - {name: b, type: noop, repeat_until: {condition: "1", max: 3}}
  - {name: c, type: noop, repeat_until: {condition: n > 1, max: 1001}}`, []string{
		"tasks[0].repeat_until.condition expression",
		"tasks[1].repeat_until.condition expression",
		"tasks[2].repeat_until.condition unknown_name",
		"tasks[2].repeat_until.max out_of_range",
	}},
	{"sub_workflow", `
  - {name: a, type: sub_workflow, workflow: nobody}
  - {name: b, type: sub_workflow, workflow: w}
  - {name: c, type: sub_workflow, workflow: child, params: {color: red}}
  - {name: d, type: sub_workflow, workflow: child, params: {day: "${nothing}"}}
  - {name: e, type: sub_workflow, workflow: child, params: {day: "$[yyyyMMbb]"}}`, []string{
		"tasks[0].workflow unknown_workflow",
		"tasks[1].workflow workflow_cycle",
		"tasks[2].params.color unknown_param",
		"tasks[3].params.day unknown_name",
		"tasks[4].params.day syntax",
	}},
	{"dynamic", `
  - {name: a, type: dynamic, workflow: w, over: [{name: day, in: [1]}]}
  - {name: b, type: dynamic, workflow: child, over: [{name: color, in: [red]}]}
  - {name: c, type: dynamic, workflow: child, over: [{name: day, in: ` + many(1001) + `}]}
  - {name: d, type: dynamic, workflow: child, over: [{name: day, in: "${nothing}"}], filter: "day ==", index: place}
  - {name: e, type: dynamic, workflow: nobody, over: [{name: day, in: "one, two"}], filter: colour == 1}`, []string{
		"tasks[0].workflow workflow_cycle",
		"tasks[1].over[0].name unknown_param",
		"tasks[2].over out_of_range",
		"tasks[3].filter expression",
		"tasks[3].index unknown_param",
		"tasks[3].over[0].in unknown_name",
		"tasks[4].filter unknown_name",
		"tasks[4].over[0].in invalid",
		"tasks[4].workflow unknown_workflow",
	}},
	{"dependent", `
  - {name: a, type: dependent, check: {all: [{workflow: w, date: lastDay}]}}
  - {name: b, type: dependent, check: {all: []}}
  - {name: c, type: dependent, check: {any: [{workflow: child, date: today, cycle: month}]}}
  - {name: d, type: dependent, check: {all: [{workflow: a/b, date: today}, {date: today}]}, interval: 0s}`, []string{
		"tasks[0].check.all[0].date not_in_enum",
		"tasks[1].check.all required",
		"tasks[2].check.any[0].cycle conflict",
		"tasks[3].check.all[0].workflow invalid_name",
		"tasks[3].check.all[1].workflow required",
		"tasks[3].interval out_of_range",
	}},
	{"approval", `
  - {name: a, type: approval, quorum: 0, message: "${nothing}"}
  - {name: b, type: approval, quorum: 2, approvers: {users: [ann], roles: [king]}}
  - {name: c, type: approval, form: {n: {type: integer, default: x}}}`, []string{
		"tasks[0].message unknown_name",
		"tasks[0].quorum out_of_range",
		"tasks[1].approvers.roles[0] not_in_enum",
		"tasks[2].form.n.default wrong_type",
	}},
	{"compensate", `
  - {name: a, type: noop, compensate: {type: shell}}
  - {name: b, type: noop, compensate: {type: http, url: "http://x/${nothing}"}}
  - {name: c, type: noop, compensate: {type: shell, script: x, retry: {times: 1, when: "attempt <"}}}`, []string{
		"tasks[0].compensate.script required",
		"tasks[1].compensate.url unknown_name",
		"tasks[2].compensate.retry.when expression",
	}},
	{"retry", `
  - {name: a, type: noop, retry: {times: 101, when: "exit_code >"}}
  - {name: b, type: noop, retry: {times: 1, when: "1"}}
  - {name: c, type: noop, retry: {delays: ` + strings.ReplaceAll(many(101), "1", "1s") + `}}`, []string{
		"tasks[0].retry.times out_of_range",
		"tasks[0].retry.when expression",
		"tasks[1].retry.when expression",
		"tasks[2].retry.delays out_of_range",
	}},
	{"texts", `
  - {name: a, type: http, url: "http://x/${nothing}", headers: {A: "${", B: "${secret.}"}}
  - {name: b, type: shell, script: x, env: {A: "$[add_month(yyyy,1)]", B: "${a.rows}"}}
  - {name: c, type: noop, params: {day: "$[yyyyMMdd", x: "${project.}"}}`, []string{
		"tasks[0].headers.A syntax",
		"tasks[0].headers.B unknown_name",
		"tasks[0].url unknown_name",
		"tasks[1].env.A syntax",
		"tasks[1].env.B unknown_name",
		"tasks[2].params.day syntax",
		"tasks[2].params.x unknown_name",
	}},
}

func TestEveryConstructRefusesBadInputAllAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/p", "")
	b.put(201, "p", "name: child\nparams: {day: today}\ntasks:\n  - {name: a, type: noop}\n", "")
	b.put(201, "p", running("w"), "")
	before := b.snapshot()
	for _, c := range badConstructs {
		var got []string
		for _, e := range b.put(422, "p", "name: w\nparams: {region: eu}\ntasks:"+c.text+"\n", "") {
			got = append(got, e.Field+" "+e.Code)
			if e.Line == 0 {
				t.Errorf("%s: %s has no place in the text", c.name, e.Field)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%q, want\n%q", c.name, got, c.want)
		}
	}
	if after := b.snapshot(); after != before {
		t.Error("what was refused has left something in the database")
	}
}
