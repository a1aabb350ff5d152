package apiserver

import (
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
)

func TestParametersAreWorkedOutAsARunWould(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	const one = "/api/v1/projects/alpha/workflows/daily"
	const text = `name: daily
params: {day: "${system.biz.date}", must: {type: integer}}
tasks:
  - {name: extract, type: shell, script: 'echo ${day}', outputs: [rows]}
  - {name: tell, type: http, needs: [extract], url: "http://x/${rows}?d=${day}&m=${must}"}
`
	b.must(201, "PUT", one, text, "Content-Type", yamlType)
	look := func(body string) ParameterPreview {
		return decode[ParameterPreview](t, b.must(200, "POST", one+"/parameters", body))
	}
	value := func(p ParameterPreview, name string) PreviewedParam {
		for _, v := range p.Params {
			if v.Name == name {
				return v
			}
		}
		t.Errorf("no %s in %+v", name, p)
		return PreviewedParam{}
	}
	p := look(`{"schedule_time":"2026-03-29T02:00:00Z","task":"tell","params":{"must":7}}`)
	if v := value(p, "day"); v.Value != "20260328" || v.Origin != "workflow" {
		t.Errorf("day %+v", v)
	}
	if v := value(p, "must"); v.Type != "integer" || v.Chain[0].Origin != "start" {
		t.Errorf("must %+v", v)
	}
	if p.Task.Fields["url"] != "http://x/${rows}?d=20260328&m=7" || len(p.Unresolved) != 1 || p.Unresolved[0] != (UnresolvedName{"rows", "url"}) {
		t.Errorf("tell %+v, unresolved %v", p.Task, p.Unresolved)
	}
	if p := look(`{}`); p.Task != nil || len(p.Unresolved) != 1 || p.Unresolved[0].Field != "params.must" {
		t.Errorf("the workflow itself %+v", p)
	}

	w := b.must(202, "POST", one+"/start", `{"params":{"must":1}}`)
	id := decode[map[string]any](t, w)["instance_id"].(string)
	b.drive(id, dag.Begin{}, dag.Assign{Task: 0, Worker: "w1", Incarnation: "b1", Token: "t1"},
		dag.Report{Task: 0, Number: 1, Token: "t1", State: dag.AttemptSuccess, FinishedAt: dag.MillisOf(time.Now()), Outputs: map[string]string{"rows": "42"}})
	p = look(`{"task":"tell","instance_id":"` + id + `","params":{"must":1}}`)
	if v := value(p, "rows"); v.Value != "42" || v.Origin != "output" || v.Chain[0].From != "extract" || len(p.Unresolved) != 0 {
		t.Errorf("with outputs %+v", p)
	}
	// Text that is not saved, a draft for instance.
	unsaved := strings.ReplaceAll(strings.ReplaceAll(text, "\n", `\n`), `"`, `\"`)
	if p := look(`{"task":"extract","text":"` + strings.Replace(unsaved, "echo ${day}", "echo ${dya}", 1) + `"}`); len(p.Unresolved) != 2 || p.Unresolved[1] != (UnresolvedName{"dya", "script"}) {
		t.Errorf("unsaved %+v", p.Unresolved)
	}
	if p := look(`{"schedule_time":"2026-03-28T23:30:00Z","timezone":"Europe/Berlin","task":"extract","params":{"must":7}}`); value(p, "day").Value != "20260328" {
		t.Errorf("in Berlin %+v", p)
	}
	b.seed("beta")
	for _, body := range []string{`{"instance_id":"999999"}`, `{"version":9}`, `{"timezone":"Berlin"}`, `{"task":"nobody"}`, `{"params":{"dya":1}}`, `{"params":{"must":"x"}}`, `{"text":"a: ["}`, `{"text":"x","version":1}`} {
		b.must(422, "POST", one+"/parameters", body)
	}
}

func TestParametersOfAProject(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	const params = "/api/v1/projects/alpha/params"
	b.must(200, "PUT", params+"/region", `{"value":"eu","description":"where"}`)
	b.must(200, "PUT", params+"/copies", `{"value":3}`)
	b.must(200, "PUT", params+"/region", `{"value":"us","description":"where"}`)
	b.must(200, "PUT", params+"/gone", `{"value":""}`)
	b.must(204, "DELETE", params+"/gone", "")
	b.must(404, "DELETE", params+"/gone", "")
	list := decode[List[ProjectParam]](t, b.must(200, "GET", params, "")).Items
	if len(list) != 2 || list[0].Name != "copies" || list[0].Value != "3" || list[1].Value != "us" || list[1].Description != "where" || list[1].UpdatedBy != "admin" {
		t.Errorf("params = %+v", list)
	}
	for path, body := range map[string]string{"/LD_PRELOAD": `{"value":"x"}`, "/a-b": `{"value":"x"}`, "/b": `{}`, "/c": `{"value":{}}`} {
		b.must(422, "PUT", params+path, body)
	}
	const one = "/api/v1/projects/alpha/workflows/flow"
	b.must(201, "PUT", one, "name: flow\nparams: {copies: 5}\ntasks: [{name: a, type: http, url: 'http://${project.region}/x'}]\n", "Content-Type", yamlType)
	p := decode[ParameterPreview](t, b.must(200, "POST", one+"/parameters", `{"task":"a"}`))
	if p.Task.Fields["url"] != "http://us/x" || p.Task.Env["region"] != "us" || p.Task.Env["copies"] != "5" {
		t.Errorf("the task is given %+v", p.Task)
	}
	for _, v := range p.Params {
		if v.Name == "region" && v.Origin != "project" || v.Name == "copies" && (len(v.Chain) != 2 || v.Chain[1].Value != "3") {
			t.Errorf("%s comes from %+v", v.Name, v.Chain)
		}
	}
	id := decode[map[string]any](t, b.must(202, "POST", one+"/start", ""))["instance_id"].(string)
	b.drive(id, dag.Begin{})
	origins := map[string]string{}
	for _, v := range decode[List[Value]](t, b.must(200, "GET", "/api/v1/instances/"+id+"/values?task=a", "")).Items {
		origins[v.Name] = v.Origin
	}
	if origins["region"] != "project" || origins["copies"] != "workflow" || origins["system_biz_date"] != "built_in" {
		t.Errorf("origins = %v", origins)
	}
}
