package dag

import (
	"reflect"
	"strings"
	"testing"
)

const typedParams = `
name: w
params:
  day: {type: date, min: 2026-01-01, max: 20261231, default: "$[yyyy-MM-dd]"}
  hosts: {type: list, default: [a1, 2, true], pattern: "[a-z0-9]+", max: 3}
  size: {type: integer, default: 5, min: 1, max: 9}
  code: {default: ab, pattern: "[a-z]{2}", min: 2}
  few: [x, 1.50]
tasks:
  - {name: t, type: noop}
`

func TestStartValuesKeepTheRulesOfTheirParameter(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, typedParams)
	def := plan.Definition
	for given, want := range map[string]string{
		"day=2026-03-29": "", "day=20260329": "", "day=2026-13-01": "wrong_type", "day=2025-12-31": "out_of_range", "day=20270101": "out_of_range",
		`hosts=["b", 3]`: "", `hosts=[]`: "", `hosts=["b","c","d","e"]`: "out_of_range", `hosts=["B"]`: "invalid", `hosts=b`: "wrong_type", `hosts=[["b"]]`: "wrong_type", `hosts=null`: "wrong_type", `hosts=["b"] x`: "wrong_type",
		"size=1": "", "size=0": "out_of_range", "size=10": "out_of_range", "size=x": "wrong_type",
		"code=zz": "", "code=z": "out_of_range", "code=zzz": "invalid", "code=ZZ": "invalid",
	} {
		name, value, _ := strings.Cut(given, "=")
		code := ""
		if errs := CheckParams(def, map[string]string{name: value}); len(errs) > 0 {
			code = errs[0].Code
			if errs[0].Field != "params."+name {
				t.Errorf("%s: the field is %s", given, errs[0].Field)
			}
		}
		if code != want {
			t.Errorf("%s is %q, want %q", given, code, want)
		}
	}
	env := resolve(t, instanceOf(plan, map[string]string{"day": "2026-05-05"}), "t").Env
	if env["hosts"] != `["a1",2,true]` || env["few"] != `["x",1.50]` || env["day"] != "2026-05-05" {
		t.Errorf("env = %v", env)
	}
	// A date that is worked out keeps the rules, too: the facts are of 2024.
	_, err := Resolve(instanceOf(plan, nil), 0, facts())
	if wrong, ok := err.(FieldError); !ok || wrong.Field != "params.day" || wrong.Code != "out_of_range" { //nolint:errorlint // Resolve says that it is one
		t.Errorf("Resolve = %v, want the day out of range", err)
	}
}

func TestExpressionsReadListsAsLists(t *testing.T) {
	t.Parallel()
	if got, want := ParamList.read(`["a", 1, 2.5, true]`), []any{"a", int64(1), 2.5, true}; !reflect.DeepEqual(got, want) {
		t.Errorf("the value is %#v, want %#v", got, want)
	}
	if got := ParamString.read(`["a"]`); got != `["a"]` {
		t.Errorf("a text is %#v", got)
	}
}
