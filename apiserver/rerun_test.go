package apiserver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
)

const reportText = `name: report
params: {day: "1", region: eu}
tasks:
  - {name: extract, type: shell, script: 'extract "$day"', outputs: [rows]}
  - {name: rates, type: shell, script: fetch, outputs: [rate]}
  - {name: load, type: shell, needs: [extract, rates], script: 'load "$region"'}
`

// reported starts the workflow and has all its tasks succeed; it returns the instance's path.
func (b *bench) reported() (id, path string) {
	b.t.Helper()
	b.must(201, "PUT", "/api/v1/projects/p", "")
	b.put(201, "p", reportText, "")
	w := b.must(202, "POST", "/api/v1/projects/p/workflows/report/start", `{"params":{"day":"2"}}`)
	id = decode[struct {
		InstanceID string `json:"instance_id"`
	}](b.t, w).InstanceID
	inputs := []dag.Input{dag.Begin{}}
	for task, outputs := range []map[string]string{{"rows": "7"}, {"rate": "1.1"}, nil} {
		token := fmt.Sprint("t", task)
		inputs = append(inputs, dag.Assign{Task: task, Worker: "w1", Incarnation: "b1", Token: token},
			dag.Report{Task: task, Number: 1, Token: token, State: dag.AttemptSuccess, FinishedAt: dag.MillisOf(time.Now()), Outputs: outputs})
	}
	b.drive(id, inputs...)
	return id, "/api/v1/instances/" + id
}

func lines(p RerunPreview) string {
	var out []string
	for _, t := range p.Tasks {
		out = append(out, strings.TrimSpace(t.Task+" "+t.Action+" "+t.Why+" "+t.Because))
	}
	return strings.Join(out, ", ")
}

func TestARerunRunsWhatItsPreviewSays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id, in := b.reported()
	const wish = `{"params":{"day":"2","region":"us"},"keep":true%s}`
	seen := decode[RerunPreview](t, b.must(200, "POST", in+"/rerun/preview", fmt.Sprintf(wish, "")))
	if got := lines(seen); got != "extract keep kept, rates keep kept, load run parameter region" || !seen.NewInstance {
		t.Fatalf("the preview says %s", got)
	}
	other := decode[RerunPreview](t, b.must(200, "POST", in+"/rerun/preview", fmt.Sprintf(wish, `,"from":["rates"]`)))
	if got := lines(other); got != "extract keep kept, rates run chosen, load run parameter region" {
		t.Errorf("from rates on: %s", got)
	}
	b.must(409, "POST", in+"/rerun", fmt.Sprintf(wish, `,"preview":"`+other.Token+`"`))

	again := decode[Instance](t, b.must(202, "POST", in+"/rerun", fmt.Sprintf(wish, `,"preview":"`+seen.Token+`"`)))
	old := decode[Instance](t, b.must(200, "GET", in, ""))
	if fmt.Sprint(jsonID(int64(again.RerunOf))) != id || again.ScheduleTime != old.CreatedAt {
		t.Errorf("the new instance is %+v", again)
	}
	path := "/api/v1/instances/" + jsonID(int64(again.ID))
	if e := decode[Explanation](t, b.must(200, "GET", path+"/explain?task=load", "")); e.Code != string(dag.TaskWaiting) {
		t.Errorf("before it begins: %+v", e)
	}
	b.begin(jsonID(int64(again.ID)))
	view := decode[InstanceView](t, b.must(200, "GET", path+"/view", ""))
	for i, want := range []dag.TaskState{dag.TaskSuccess, dag.TaskSuccess, dag.TaskReady} {
		task := view.Tasks[i]
		from := task.KeptFrom
		if task.State != want || task.Attempts != 0 || (from != nil) != (want == dag.TaskSuccess) || from != nil && (from.Attempt != 1 || jsonID(int64(from.InstanceID)) != id) {
			t.Errorf("begun, %s is %+v, kept from %+v", task.Name, task, from)
		}
	}
	if view.Tasks[0].Outputs["rows"] != "7" {
		t.Errorf("the kept outputs are %v", view.Tasks[0].Outputs)
	}
	values := b.must(200, "GET", path+"/values?task=load", "").Body.String()
	if !strings.Contains(values, `"value":"1.1"`) {
		t.Errorf("load sees %s", values)
	}

	// What has been run again since is not what was seen.
	b.must(202, "POST", in+"/rerun", `{"from":["load"]}`)
	b.step(id, dag.Control{ID: b.wishes(id)[0].ID, Verb: dag.VerbRerun, Tasks: []int{2}, Scope: dag.ScopeDownstream})
	b.must(409, "POST", in+"/rerun", fmt.Sprintf(wish, `,"preview":"`+seen.Token+`"`))
}

func TestARoundsPreviewNamesWhatItTakesUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id, in := b.reported()
	seen := decode[RerunPreview](t, b.must(200, "POST", in+"/rerun/preview", `{"from":["rates"]}`))
	if got := lines(seen); got != "extract keep kept, rates run round, load run round" || seen.NewInstance {
		t.Errorf("the preview says %s", got)
	}
	b.must(202, "POST", in+"/rerun", `{"from":["rates"],"preview":"`+seen.Token+`"}`)
	if open := b.wishes(id); len(open) != 1 || len(open[0].Tasks) != 1 || open[0].Tasks[0] != "rates" || open[0].Scope != dag.ScopeDownstream {
		t.Errorf("written: %+v", open)
	}
	for body, field := range map[string]string{
		`{"from":["none"]}`:                              "from[0]",
		`{"from":["rates"],"keep":true,"version":9}`:     "version",
		`{"keep":true,"from":["none"]}`:                  "from[0]",
		`{"from":["rates"],"tasks":["load"]}`:            "from",
		`{"tasks":["rates"],"keep":true}`:                "keep",
		`{"from":["rates"],"params":{"day":"2"}}`:        "from",
		`{"keep":true,"params":{"day":"2","color":"x"}}`: "params.color",
	} {
		for _, path := range []string{"/rerun", "/rerun/preview"} {
			if w := b.must(422, "POST", in+path, body); !strings.Contains(w.Body.String(), `"field":"`+field+`"`) {
				t.Errorf("%s %s: %s", path, body, w.Body)
			}
		}
	}
	running := decode[struct {
		InstanceID string `json:"instance_id"`
	}](t, b.must(202, "POST", "/api/v1/projects/p/workflows/report/start", "")).InstanceID
	b.must(409, "POST", "/api/v1/instances/"+running+"/rerun/preview", `{"keep":true}`)
	b.must(409, "POST", "/api/v1/instances/"+running+"/rerun/preview", "")
}
