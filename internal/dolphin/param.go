package dolphin

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
)

// param is one parameter.
type param struct {
	was, name string // there and here
	value     string
	kind      dag.ParamType
	at        string
}

// params are parameters of a workflow or a task, in order.
type params []param

// readParam reads {prop, direct, type, value}; false where it is none that can come over.
func readParam(o *object, n *notes) (param, bool) {
	p := param{was: strings.TrimSpace(o.text("prop")), value: o.text("value"), at: o.at}
	kind := o.word("type", "VARCHAR", "VARCHAR", "INTEGER", "LONG", "FLOAT", "DOUBLE", "DATE", "TIME", "TIMESTAMP", "BOOLEAN", "LIST", "FILE")
	o.drop("direct")
	o.rest(codeUnknownField)
	if p.was == "" {
		return p, false
	}
	if p.name = identifier(p.was); p.name != p.was {
		n.add(codeParamName, o.path("prop"), p.was+" became "+p.name)
	}
	p.kind = dag.ParamString
	open := strings.Contains(p.value, "${") || strings.Contains(p.value, "$[")
	switch kind {
	case "INTEGER", "LONG":
		if open || document.IsInteger(p.value) {
			p.kind = dag.ParamInteger
		}
	case "FLOAT", "DOUBLE":
		if open || document.IsNumber(p.value) {
			p.kind = dag.ParamNumber
		}
	case "BOOLEAN":
		if open || p.value == "true" || p.value == "false" {
			p.kind = dag.ParamBoolean
		}
	case "DATE":
		if dag.ParamDate.Fits(p.value) {
			p.kind = dag.ParamDate
		}
	case "LIST":
		if dag.ParamList.Fits(p.value) {
			p.kind = dag.ParamList
			return p, true
		}
		n.add(codeParamList, o.path("type"), p.was)
		return p, true
	case "FILE":
		n.add(codeParamFile, o.path("type"), p.was)
		return p, false
	}
	if kind != "VARCHAR" && p.kind == dag.ParamString {
		n.add(codeParamType, o.path("type"), p.was+" was of the type "+kind)
	}
	return p, true
}

// with adds a parameter; of two with one name the last is taken.
func (ps params) with(p param, n *notes) params {
	for i := range ps {
		if ps[i].name == p.name {
			n.add(codeParamRepeated, p.at, p.was)
			ps[i] = p
			return ps
		}
	}
	return append(ps, p)
}

// without takes the parameter of a name away.
func (ps params) without(name string) params {
	return slices.DeleteFunc(ps, func(p param) bool { return p.name == name })
}

// find returns a parameter by its name there.
func (ps params) find(was string) *param {
	for i := range ps {
		if ps[i].was == was {
			return &ps[i]
		}
	}
	return nil
}

// mapping writes parameters. text puts a value into the form that it has here.
func (ps params) mapping(text func(p *param) string) mapping {
	var m mapping
	for i := range ps {
		p := &ps[i]
		value := p.value
		if text != nil {
			value = text(p)
		}
		m = append(m, entry{p.name, p.written(value)})
	}
	return m
}

// written is a value whose kind says its type; where it cannot, the type stands beside it.
func (p *param) written(value string) any {
	switch p.kind {
	case dag.ParamString:
		return value
	case dag.ParamList:
		if texts := []string(nil); json.Unmarshal([]byte(value), &texts) == nil && len(texts) > 0 {
			return texts
		}
	case dag.ParamInteger, dag.ParamNumber, dag.ParamBoolean, dag.ParamDate:
	}
	if p.kind == dag.ParamDate || p.kind == dag.ParamList || strings.Contains(value, "$") {
		return mapping{{keyType, string(p.kind)}, {keyDefault, value}}
	}
	return number(value)
}

// reference is ${name}, as that product finds it.
var reference = regexp.MustCompile(`\$\{([^{}]*)\}`)

// timeExpression is $[...], as that product finds it: one that begins with a digit is none.
var timeExpression = regexp.MustCompile(`\$\[[^\]0-9][^\]]*\]`)

// maxChain bounds how often values of parameters are put into each other, and maxChained what
// comes of it.
const (
	maxChain   = 10
	maxChained = dag.MaxValue
)

// chained puts parameters of a workflow that refer to each other into one another: here they
// may refer to built-in ones only.
func (ps params) chained(n *notes, known builtins) params {
	for i := range ps {
		p := &ps[i]
		before := p.value
		for range maxChain {
			next := ps.into(p.value, p)
			if next == p.value {
				break
			}
			p.value = next
		}
		p.value = replaceReferences(p.value, func(name string) (string, bool) {
			if here, ok := known.find(name); ok {
				return here, true
			}
			n.unknown(p.at, name)
			return "", false
		})
		if before != p.value && strings.Contains(before, "${") && !strings.Contains(before, "${system.") {
			n.add(codeParamChain, p.at, fmt.Sprintf("%s became %s", shown(before), shown(p.value)))
		}
	}
	return ps
}

// into puts the values of parameters into a text, but for one's own; the text stays as it is
// where that would be too long.
func (ps params) into(text string, own *param) string {
	var b strings.Builder
	from := 0
	for _, at := range reference.FindAllStringSubmatchIndex(text, -1) {
		other := ps.find(text[at[2]:at[3]])
		if other == nil || other.name == own.name {
			continue
		}
		b.WriteString(text[from:at[0]])
		b.WriteString(other.value)
		if from = at[1]; b.Len() > maxChained {
			return text
		}
	}
	b.WriteString(text[from:])
	return b.String()
}

// names returns the names here.
func (ps params) names() []string {
	out := make([]string, len(ps))
	for i := range ps {
		out[i] = ps[i].name
	}
	return out
}

// replaceReferences gives each ${name} the name that it has here; one without is written so
// that it stays as it stands.
func replaceReferences(text string, name func(was string) (string, bool)) string {
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		if here, ok := name(ref[2 : len(ref)-1]); ok {
			return "${" + here + "}"
		}
		return "$" + ref
	})
}

// aliases are built-in parameters that have another name here.
var aliases = map[string]string{
	"system.workflow.definition.name": "system.workflow.name",
	"system.task.definition.name":     "system.task.name",
}

// builtins remembers of the built-in names of there whether they are some here, too.
type builtins map[string]bool

// builtinName is what a built-in name looks like.
var builtinName = regexp.MustCompile(`^system(\.[a-z]{1,20}){1,4}$`)

// maxBuiltins is how many different ones are asked about: there are some dozens.
const maxBuiltins = 1000

// find returns the name here of a built-in parameter of there.
func (b builtins) find(was string) (string, bool) {
	if !builtinName.MatchString(was) {
		return "", false
	}
	if alias := aliases[was]; alias != "" {
		return alias, true
	}
	known, asked := b[was]
	if !asked && len(b) < maxBuiltins {
		// The core knows its own built-in names best: it is asked with the smallest workflow.
		_, errs := dag.Parse([]byte("name: ask\ntasks:\n  - {name: a, type: noop, env: {A: '${"+was+"}'}}\n"), "yaml")
		known = len(errs) == 0
		b[was] = known
	}
	return was, known
}

// unknown notes a ${name} that nothing gives.
func (n *notes) unknown(at, name string) {
	code := codeReference
	if strings.HasPrefix(name, "system.") {
		code = codeBuiltin
	}
	n.add(code, at, "${"+shown(name)+"}")
}
