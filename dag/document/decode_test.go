package document

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

type inner struct {
	Wait Duration `json:"wait" rule:"min=1s,max=1h" default:"5s" doc:"A wait."`
	Kind string   `json:"kind" rule:"enum=a|b" default:"a"`
}

type outer struct {
	Name   string            `json:"name" rule:"required,max=8" pattern:"^[a-z]+$" doc:"A name."`
	Count  int               `json:"count" rule:"min=1,max=3" default:"2"`
	Ratio  float64           `json:"ratio" rule:"min=0"`
	On     bool              `json:"on"`
	List   []string          `json:"list" rule:"min=1,max=2"`
	Labels map[string]string `json:"labels" rule:"max=1"`
	In     *inner            `json:"in"`
	Many   []inner           `json:"many"`
	Pairs  Entries[Text]     `json:"pairs"`
	Inners Entries[inner]    `json:"inners"`
	Hidden string            `json:"-"`
}

// readOuter decodes and checks a YAML text as a caller does.
func readOuter(t *testing.T, text string) (outer, []FieldError) {
	t.Helper()
	n, errs := Read([]byte(text), YAML)
	checkErrors(t, errs)
	var o outer
	errs = Decode(n, &o)
	return o, Sort(append(errs, Place(n, errs, Check(&o, nil))...))
}

func TestDecodeReadsEveryKind(t *testing.T) {
	t.Parallel()
	o, errs := readOuter(t, `
name: x
ratio: 1e3
on: true
list: [a, b]
labels: {k: 007}
in: {wait: 90s}
many: [{kind: b}, {}]
pairs: {z: 1, a: true, m: x}
inners: {one: {wait: 2s}}
`)
	checkErrors(t, errs)
	if o.Name != "x" || o.Count != 2 || o.Ratio != 1000 || !o.On || !slices.Equal(o.List, []string{"a", "b"}) || o.Labels["k"] != "007" {
		t.Errorf("read %+v", o)
	}
	if time.Duration(o.In.Wait) != 90*time.Second || o.In.Kind != "a" || o.Many[0].Kind != "b" || o.Many[1].Kind != "a" || o.Inners[0].Value.Kind != "a" {
		t.Errorf("read %+v, %+v, %+v", o.In, o.Many, o.Inners)
	}
	if len(o.Pairs) != 3 || o.Pairs[0] != (Entry[Text]{"z", "1"}) || o.Pairs[1] != (Entry[Text]{"a", "true"}) || o.Pairs[2].Value != "x" {
		t.Errorf("pairs = %v: the order of the text is lost", o.Pairs)
	}
}

func TestDecodeAndCheckReportEveryErrorOnceInOrder(t *testing.T) {
	t.Parallel()
	_, errs := readOuter(t, strings.Join([]string{
		"name: toolongname",            // 1
		"count: 9",                     // 2
		"ratio: -1",                    // 3
		"on: 1",                        // 4
		"list: [a, b, c]",              // 5
		"labels: {a: 1, b: [x]}",       // 6
		"in: {wait: 2h, kind: c}",      // 7
		"many: [{kind: d}, x, {a: 1}]", // 8
		"pairs: {a: null}",             // 9
		"inners: {one: {wait: 1ms}}",   // 10
		"lisst: []",                    // 11
	}, "\n"))
	checkErrors(
		t, errs,
		wrong{1, 7, "name", "too_large", "at most 8"},
		wrong{2, 8, "count", "out_of_range", "9, allowed is 1 to 3"},
		wrong{3, 8, "ratio", "out_of_range", "at least 0"},
		wrong{4, 5, "on", "wrong_type", "true or false, not a number (1)"},
		wrong{5, 7, "list", "out_of_range", "3 entries, allowed is 1 to 2"},
		wrong{6, 9, "labels", "out_of_range", "2 entries"},
		wrong{6, 19, "labels.b", "wrong_type", "a text"},
		wrong{7, 12, "in.wait", "out_of_range", "2h, allowed is 1s to 1h"},
		wrong{7, 22, "in.kind", "not_in_enum", "a or b"},
		wrong{8, 15, "many[0].kind", "not_in_enum", "want a or b"},
		wrong{8, 19, "many[1]", "wrong_type", "a map"},
		wrong{8, 23, "many[2].a", "unknown_field", "known are wait, kind"},
		wrong{9, 12, "pairs.a", "null", "give a text"},
		wrong{10, 22, "inners.one.wait", "out_of_range", "1ms"},
		wrong{11, 1, "lisst", "unknown_field", `did you mean "list"?`},
	)
}

func TestNumbersAreNeverGuessed(t *testing.T) {
	t.Parallel()
	for text, code := range map[string]string{
		"1.5": CodeWrongType, "1.0": CodeWrongType, "1e0": CodeWrongType, "'1'": CodeWrongType, "true": CodeWrongType, "007": CodeWrongType,
		"+1": CodeWrongType, "0x1": CodeWrongType, "1_0": CodeWrongType, "1e400": CodeWrongType, ".nan": CodeWrongType,
		"99999999999999999999": CodeOutOfRange, "~": CodeNull, "[1]": CodeWrongType,
	} {
		_, errs := readOuter(t, "name: x\ncount: "+text)
		if len(errs) != 1 || errs[0].Code != code || errs[0].Field != "count" {
			t.Errorf("count: %s gives %v, want %s", text, errs, code)
		}
	}
	for text, code := range map[string]string{
		"1e400": CodeOutOfRange, ".inf": CodeWrongType, ".nan": CodeWrongType, "'1'": CodeWrongType, "1.": CodeWrongType,
	} {
		_, errs := readOuter(t, "name: x\nratio: "+text)
		if len(errs) != 1 || errs[0].Code != code || errs[0].Field != "ratio" {
			t.Errorf("ratio: %s gives %v, want %s", text, errs, code)
		}
	}
}

func TestSchemaSaysWhatTheTagsSay(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(SchemaOf(outer{}, "https://example.com/s", "Outer"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"name":{"description":"A name.","maxLength":8,"minLength":1,"pattern":"^[a-z]+$","type":"string","x-order":`,
		`"count":{"default":2,"maximum":3,"minimum":1,"type":"integer","x-order":`,
		`"list":{"items":{"type":"string"},"maxItems":2,"minItems":1,"type":"array","x-order":`,
		`"labels":{"additionalProperties":{"type":["string","number","boolean"]},"maxProperties":1,"type":"object","x-order":`,
		`"in":{"$ref":"#/$defs/inner","x-order":`,
		`"kind":{"default":"a","enum":["a","b"],"type":"string","x-order":`,
		`A wait. (1s to 1h)`,
		`"required":["name"]`,
		`"additionalProperties":false`,
		`"$schema":"https://json-schema.org/draft/2020-12/schema"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the schema lacks %s", want)
		}
	}
	for _, not := range []string{"Hidden", "hidden"} {
		if strings.Contains(string(text), `"`+not+`"`) {
			t.Errorf("the schema has %s", not)
		}
	}
	again, err := json.Marshal(SchemaOf(outer{}, "https://example.com/s", "Outer"))
	if err != nil || string(again) != string(text) {
		t.Error("two schemas of one type differ")
	}
}
