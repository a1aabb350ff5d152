package dag

import (
	"maps"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag/document"
)

// MaxLabels is how many labels a worker may have, and a task may ask for.
const MaxLabels = 32

// Labels are what a worker says of itself, and what a task asks of the worker that runs it: values by name.
type Labels map[string]string

// In says that each of the labels, with its value, is among those of a worker. No labels are in any.
func (l Labels) In(worker map[string]string) bool {
	for name, value := range l {
		if has, ok := worker[name]; !ok || has != value {
			return false
		}
	}
	return true
}

// String is the labels as name=value in the order of the names, with commas between; empty for none. Labels that
// passed CheckLabel have the same text only where they are the same.
func (l Labels) String() string {
	if len(l) == 0 {
		return ""
	}
	pairs := make([]string, 0, len(l))
	for _, name := range slices.Sorted(maps.Keys(l)) {
		pairs = append(pairs, name+"="+l[name])
	}
	return strings.Join(pairs, ",")
}

// CheckLabel holds a label's name and its value against the rule of CheckName. field is where all labels stand.
func CheckLabel(field, name, value string) []FieldError {
	at := document.FieldKey(field, name)
	return append(CheckName(at, name), CheckName(at, value)...)
}

// labels reads worker_labels.
func labels(field string, entries document.Entries[document.Text]) (Labels, []FieldError) {
	if len(entries) == 0 {
		return nil, nil
	}
	var errs []FieldError
	out := make(Labels, len(entries))
	for _, e := range entries {
		out[e.Name] = string(e.Value)
		errs = append(errs, CheckLabel(field, e.Name, string(e.Value))...)
	}
	return out, errs
}
