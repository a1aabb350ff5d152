package dolphin_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/interval"
	"github.com/porpoise/porpoise/dag/trial"
	"github.com/porpoise/porpoise/internal/dolphin"
)

// try runs cases against an imported workflow, by the rules of the core.
func try(t *testing.T, w *dolphin.Workflow, cases string) {
	t.Helper()
	plan, wrong := dag.ParsePlan(w.YAML, "yaml")
	if len(wrong) > 0 {
		t.Fatalf("%s is refused: %v\n%s", w.Name, wrong, w.YAML)
	}
	suite, wrong := trial.Read([]byte(cases), "yaml", plan)
	if len(wrong) > 0 {
		t.Fatalf("cases are refused: %v", wrong)
	}
	for i := range suite.Cases {
		for _, f := range suite.Run(i).Failures {
			t.Errorf("%s: %s: %s: expected %s, got %s. %s", w.Name, suite.Cases[i].Name, f.Field, f.Expected, f.Got, f.Hint)
		}
	}
}

// TestImportedDynamicTasksRunAsThere runs what 3.2.2 makes four children of: three shops in three
// years, without the shop and the year that its filter names.
func TestImportedDynamicTasksRunAsThere(t *testing.T) {
	t.Parallel()
	r := read(t, "shops")
	try(t, &r.Workflows[1], `
cases:
  - name: every combination that the filter leaves
    tasks:
      each: {takes: 1m, outputs: {rows: 7}}
      by list: {takes: 1m, outputs: {rows: 1}}
    expect:
      state: success
      took: 2m
      tasks:
        each: {params: {shop: rome, year: "2025", since: "2024-01-01"}}
        by list: {params: {shop: rome, year: "2025"}}
        report: {env: {rows: '["1","1","1"]', since: "2024-01-01"}}
  - name: a list that the start gives
    params: {shops: [kyiv]}
    tasks: {by list: {outputs: {rows: 1}}}
    expect: {state: success, tasks: {by list: {params: {shop: kyiv}}, report: {env: {rows: '["1"]'}}}}
  - name: one that fails
    tasks: {each: failed}
    expect: {state: failed, tasks: {each: {reason: child_failed}, report: upstream_failed}}
`)
	child := r.Workflows[0]
	try(t, &child, `
cases:
  - name: the items are its parameters
    params: {shop: oslo, year: 2024}
    expect: {state: success, tasks: {load: {env: {shop: oslo, year: "2024"}}}}
`)
}

// dynamic is an export of one DYNAMIC task with the given parameters.
func dynamicOf(t *testing.T, params map[string]any) (dolphin.Workflow, map[string]bool) {
	t.Helper()
	params["processDefinitionCode"] = 2
	text, err := json.Marshal([]any{map[string]any{
		"processDefinition":  map[string]any{"code": 1, "name": "n", "globalParamList": []any{map[string]string{"prop": "names", "value": "a"}}},
		"taskDefinitionList": []any{map[string]any{"code": 3, "name": "each", "taskType": "DYNAMIC", "taskParams": params}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := dolphin.Import(text, dolphin.Options{Names: map[string]string{"workflow:2": "one"}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Workflows[0], codes(r)
}

func TestItemsAreCutAsThere(t *testing.T) {
	t.Parallel()
	type list = map[string]string
	for _, c := range []struct {
		name   string
		lists  []list
		params map[string]any
		want   string // in the definition
		code   string // among the findings
		not    string // not among them
	}{
		{"pieces without a character are none", []list{{"name": "x", "value": " a,,b , ", "separator": ","}}, nil, "in: [a, b]", "dynamic_items", "dynamic_items_text"},
		{"each character of a separator cuts", []list{{"name": "x", "value": "a;b|c", "separator": ";|"}}, nil, "in: [a, b, c]", "dynamic_items", ""},
		{"a comma where none is given", []list{{"name": "x", "value": "a,b"}}, nil, "in: [a, b]", "dynamic_items", ""},
		{"what refers to a list", []list{{"name": "x", "value": "${names}"}}, nil, "in: ${names}", "dynamic_items_text", ""},
		{"a reference among items", []list{{"name": "x", "value": "a,${names}"}}, nil, `in: [a, '${names}']`, "dynamic_items_text", ""},
		{"a name that is none here", []list{{"name": "x-y", "value": "a"}}, nil, "name: x_y", "param_name", ""},
		{"a name that is left empty", []list{{"name": " ", "value": "a"}, {"name": "z", "value": "b"}}, nil, "over:\n      - name: z\n", "", "param_name"},
		{"a filter of several lists", []list{{"name": "x", "value": "a"}, {"name": "y", "value": "b"}}, map[string]any{"filterCondition": `a"b,`}, `filter: '!["a\"b"].includes(x) && !["a\"b"].includes(y)'`, "dynamic_filter", ""},
		{"as many as fit", []list{{"name": "x", "value": "a,b"}, {"name": "y", "value": "a,b"}}, map[string]any{"maxNumOfSubWorkflowInstances": 4}, "over:", "", "dynamic_most"},
		{"one more than fits", []list{{"name": "x", "value": "a,b"}, {"name": "y", "value": "a,b"}}, map[string]any{"maxNumOfSubWorkflowInstances": 3}, "over:", "dynamic_most", ""},
		{"a parameter that an item has the name of", []list{{"name": "x", "value": "a"}}, map[string]any{"localParams": []any{list{"prop": "x", "direct": "IN", "value": "1"}}}, "type: dynamic\n    workflow: one", "param_repeated", ""},
	} {
		params := map[string]any{"listParameters": c.lists}
		maps.Copy(params, c.params)
		w, found := dynamicOf(t, params)
		if yaml := string(w.YAML); !strings.Contains(yaml, c.want) || len(w.Refused) > 0 {
			t.Errorf("%s: want %s, and nothing refused; got %v\n%s", c.name, c.want, w.Refused, yaml)
		}
		if c.code != "" && !found[c.code] || c.not != "" && found[c.not] {
			t.Errorf("%s: found %v, want %q and not %q", c.name, found, c.code, c.not)
		}
	}
	if w, _ := dynamicOf(t, map[string]any{}); len(w.Refused) == 0 || w.Refused[0].Field != "tasks[0].over" {
		t.Errorf("a task without a list is refused as %v, want its field", w.Refused)
	}
}

func TestEveryDateOfADependentComesOver(t *testing.T) {
	t.Parallel()
	for _, value := range interval.Names() {
		text := fmt.Sprintf(`{"processDefinition":{"code":1,"name":"n","projectCode":9},"taskDefinitionList":[{"code":2,"name":"wait","taskType":"DEPENDENT","taskParams":{"dependence":{"relation":"AND","dependTaskList":[
{"relation":"OR","dependItemList":[{"projectCode":9,"definitionCode":5,"depTaskCode":0,"cycle":%q,"dateValue":%q}]}]}}}]}`, interval.CycleOf(value), value)
		r, err := dolphin.Import([]byte(text), dolphin.Options{Names: map[string]string{"workflow:5": "upstream"}})
		if err != nil {
			t.Fatal(err)
		}
		w := &r.Workflows[0]
		if len(w.Refused) > 0 || !strings.Contains(string(w.YAML), "date: "+value) || codes(r)["dependent_date"] {
			t.Errorf("%s: refused %v\n%s", value, w.Refused, w.YAML)
			continue
		}
		try(t, w, "cases:\n  - {name: it waits, schedule_time: \"2026-03-29T04:00:00Z\", tasks: {wait: {takes: 1h}}, expect: {state: success, took: 1h}}\n")
	}
}

// TestAlertsBecomeAListenersCommand wants a command that hears of the same ends.
func TestAlertsBecomeAListenersCommand(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"SUCCESS": `--event ended --workflow "daily" --state success`,
		"FAILURE": `--event ended --workflow "daily" --state failed`,
		"ALL":     `--event ended --workflow "daily"`,
		"NONE":    "",
	} {
		r, err := dolphin.Import(fmt.Appendf(nil, `{"processDefinition":{"code":1,"name":"daily"},"taskDefinitionList":[],"schedule":{"crontab":"0 0 3 L * ?","timezoneId":"UTC","warningType":%q}}`, word), dolphin.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := r.Workflows[0].Schedule
		if s.Means != "at 03:00 on the last day of the month" {
			t.Errorf("the schedule means %q", s.Means)
		}
		said := ""
		for _, f := range s.Findings {
			if f.Code == "schedule_alert" {
				said = f.Message
			}
		}
		if want == "" && said != "" || !strings.HasSuffix(said, want) {
			t.Errorf("%s: said %q, want it to end with %q", word, said, want)
		}
	}
}
