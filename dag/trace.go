package dag

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/porpoise/porpoise/dag/document"
)

// Origin says where a parameter's value comes from.
type Origin string

// The origins, the strongest first.
const (
	OriginStart    Origin = "start"    // given at the start
	OriginTask     Origin = "task"     // the task's own params
	OriginOutput   Origin = "output"   // an output of a task above; the nearest one wins
	OriginWorkflow Origin = "workflow" // the default of the workflow's parameter
	OriginProject  Origin = "project"  // a parameter of the project
	OriginBuiltin  Origin = "built_in" // system_biz_date and the like
)

var originRank = map[Origin]int{OriginStart: 0, OriginTask: 1, OriginOutput: 2, OriginWorkflow: 3, OriginProject: 4, OriginBuiltin: 5}

// Link is one source of a value. A default that a start's value hides is shown as it is written.
type Link struct {
	Origin Origin
	Value  string
	From   string // the task of an output
}

// TracedValue is a parameter with all sources that have it; the first of the chain wins.
type TracedValue struct {
	Name  string
	Type  ParamType
	Chain []Link
}

// Unresolved is a ${name} that has no value yet, at its field.
type Unresolved struct{ Name, Field string }

// Trace is what a task would be given, as far as that can be known.
type Trace struct {
	Values     []TracedValue // by name
	Env        map[string]string
	Spec       map[string]any // the task's own keys, with values put in
	WorkingDir string
	Unresolved []Unresolved
}

// TraceTask works out the parameters of a task by the rules of Resolve, and tells of each
// value where it comes from. Unlike Resolve it goes on where a value is missing: it leaves
// the reference as it stands and lists it. A reference to a secret always stands as it is; it is listed
// where Facts does not have the secret. Task -1 is the workflow itself: it has values only.
func TraceTask(in *Instance, task int, facts Facts) (Trace, error) {
	r := resolver{in: in, task: task, t: &Task{}, trace: map[string][]Link{}, secrets: facts.Secrets}
	if task >= 0 {
		r.t = &in.plan.Definition.Tasks[task]
	}
	t := tracing{resolver: &r, asked: map[Unresolved]bool{}}
	if err := t.parameters(facts); err != nil {
		return Trace{}, err
	}
	t.out.Values = t.chains()
	if task < 0 {
		return t.out, nil
	}
	own := make(map[string]string, len(r.t.Env))
	for _, e := range r.t.Env {
		own[e.Name] = t.dated(document.FieldKey("env", e.Name), e.Value)
	}
	t.out.WorkingDir = t.expand("working_dir", r.t.WorkingDir)
	if err := t.spec(); err != nil {
		return Trace{}, err
	}
	for _, e := range in.plan.unknownVariables(task) {
		name := e.Args["name"].(string)
		if _, given := r.values[name]; !given { // by the project, which a definition knows nothing of
			t.missing(name, "script")
		}
	}
	t.out.Env = r.values
	maps.Copy(t.out.Env, own)
	return t.out, nil
}

// tracing is a resolver that goes on.
type tracing struct {
	*resolver
	out   Trace
	asked map[Unresolved]bool
}

func (t *tracing) missing(name, field string) {
	u := Unresolved{name, field}
	if !t.asked[u] {
		t.asked[u] = true
		t.out.Unresolved = append(t.out.Unresolved, u)
	}
}

// parameters fills the values. A default that refers to what is not there yet is left out,
// as if it were not declared, and the rest is gone through again.
func (t *tracing) parameters(facts Facts) error {
	def := t.in.plan.Definition
	without := map[string]bool{}
	for {
		err := t.resolver.parameters(facts)
		if err == nil {
			break
		}
		if without[err.Field] || err.Code != CodeUnknownName {
			return *err
		}
		without[err.Field] = true
		t.missing(err.Value, err.Field)
		copied := *t.t
		copied.Params = slices.DeleteFunc(slices.Clone(t.t.Params), func(p Param) bool {
			return document.FieldKey(t.in.plan.Definition.field(t.task)+".params", p.Name) == err.Field
		})
		t.t = &copied
		t.trace = map[string][]Link{}
	}
	for i := range def.Params {
		if p := &def.Params[i]; p.Default == nil {
			if _, given := t.in.Params[p.Name]; !given {
				t.missing(p.Name, document.FieldKey("params", p.Name))
			}
		}
	}
	return nil
}

// chains sorts the sources of each value, the one that wins first.
func (t *tracing) chains() []TracedValue {
	out := make([]TracedValue, 0, len(t.trace))
	for _, name := range slices.Sorted(maps.Keys(t.trace)) {
		chain := t.trace[name]
		slices.Reverse(chain) // of outputs the last is the nearest
		slices.SortStableFunc(chain, func(a, b Link) int { return cmp.Compare(originRank[a.Origin], originRank[b.Origin]) })
		out = append(out, TracedValue{Name: name, Type: t.typeOf(name), Chain: chain})
	}
	return out
}

func (t *tracing) typeOf(name string) ParamType {
	for _, params := range [][]Param{t.t.Params, t.in.plan.Definition.Params} {
		for i := range params {
			if params[i].Name == name {
				return params[i].Type
			}
		}
	}
	return ParamString
}

// expand puts values into a text; what has none stays as it stands.
func (t *tracing) expand(field, text string) string {
	value, err := expand(text, t.found(field))
	if err != nil {
		return text
	}
	return value
}

// dated is expand for a text with dates; one that can't be worked out stays as it stands.
func (t *tracing) dated(field, text string) string {
	value, err := datedExpand(text, t.base, t.found(field))
	if err != nil {
		return text
	}
	return value
}

// found is a lookup that notes the names without a value.
func (t *tracing) found(field string) func(name string) (string, *FieldError) {
	return func(name string) (string, *FieldError) {
		if secret, ok := secretName(t.in.plan, name); ok {
			if _, known := t.secrets[secret]; !known {
				t.missing(name, field)
			}
			return "${" + name + "}", nil
		}
		value, err := t.lookup(name)
		if err != nil {
			t.missing(name, field)
			return "${" + name + "}", nil
		}
		return value, nil
	}
}

func (t *tracing) spec() error {
	text, err := encodeSpec(t.t.Spec)
	if err != nil {
		return err
	}
	spec, _ := NewSpec(t.t.Type)
	if err := json.Unmarshal(text, spec); err != nil {
		return err
	}
	eachText(reflect.ValueOf(spec), "", t.expand)
	if text, err = encodeSpec(spec); err != nil {
		return err
	}
	return json.Unmarshal(text, &t.out.Spec)
}

// SetOutputs gives a task of an instance that is only looked at the outputs of another
// instance's task.
func (in *Instance) SetOutputs(task int, outputs map[string]string) { in.Tasks[task].Outputs = outputs }
