package dag

import (
	"strconv"

	"github.com/porpoise/porpoise/dag/document"
)

// affectsText is a list of tasks, or the word none for an empty one.
type affectsText struct{ Tasks []string }

const affectsNone = "none"

// ReadDocument takes both forms.
func (a *affectsText) ReadDocument(d *document.Decoder, n *document.Node, at *document.Path) {
	switch {
	case n.Kind == document.String && n.Text == affectsNone:
	case n.Kind == document.List:
		d.Read(n, &a.Tasks, at)
	default:
		d.Want(n, at, `a list of tasks, or "none"`)
	}
}

// DescribeDocument describes both forms.
func (affectsText) DescribeDocument(*document.Schemas) document.Schema {
	return document.Schema{"anyOf": []any{
		document.Schema{"type": "string", "enum": []string{affectsNone}},
		document.Schema{"type": "array", "items": document.Schema{"type": "string"}},
	}}
}

// names are the tasks: nil where nothing is said, empty for none.
func (a *affectsText) names() []string {
	if a == nil {
		return nil
	}
	return append([]string{}, a.Tasks...)
}

// checkAffects refuses tasks that there are not.
func checkAffects(def *Definition) []FieldError {
	var errs []FieldError
	known := make(map[string]bool, len(def.Tasks))
	for i := range def.Tasks {
		known[def.Tasks[i].Name] = true
	}
	for i := range def.Params {
		p := &def.Params[i]
		for k, name := range p.Affects {
			if !known[name] {
				errs = append(errs, FieldError{
					Field: document.FieldKey("params", p.Name) + ".affects[" + strconv.Itoa(k) + "]", Code: CodeUnknownTask,
					Message: "there is no task " + document.Quoted(name), Value: document.Shown(name), Args: Args{"task": "", "need": name},
				})
			}
		}
	}
	return errs
}
