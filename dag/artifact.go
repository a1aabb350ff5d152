package dag

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/porpoise/porpoise/dag/document"
)

// The limits of artifacts. They go through the database, so they are made for results and not for data sets.
const (
	MaxArtifacts     = 100      // files of one attempt, and entries of artifacts and of uses
	MaxArtifactBytes = 64 << 20 // of one attempt's files together
	// maxArtifactName is what a file system takes for one part of a path.
	maxArtifactName = 255
)

// Use is one entry of a task's uses: an artifact of a task that comes before it. An artifact that ends with a slash
// is a folder with all that is in it.
type Use struct{ Task, Artifact string }

// ArtifactFault says what is wrong with the name of an artifact, "" for nothing. A good one is a path below
// the folder of artifacts as it is written: no part of it leads elsewhere. One that ends with a slash is a folder.
func ArtifactFault(name string) string {
	path := strings.TrimSuffix(name, "/")
	switch {
	case path == "":
		return "the name is empty"
	case len(name) > maxArtifactName:
		return fmt.Sprintf("the name is over %d bytes", maxArtifactName)
	case !utf8.ValidString(name):
		return "the name is no UTF-8"
	case strings.HasPrefix(name, "/"):
		return "want a path below the folder $PORPOISE_ARTIFACTS, not an absolute one"
	case strings.Contains(name, "\\") || strings.ContainsFunc(name, unicode.IsControl):
		return "a name has no backslash and no control character"
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." {
			return "a path has no empty part, no . and no .. in it"
		}
	}
	return ""
}

// HasArtifact tells whether an artifact, a folder where it ends with a slash, holds the file or folder name.
func HasArtifact(artifact, name string) bool {
	return artifact == name || strings.HasSuffix(artifact, "/") && strings.HasPrefix(name, artifact)
}

// checkArtifacts checks what a task leaves and uses, as far as its own text tells.
func checkArtifacts(field string, t *Task) []FieldError {
	var errs []FieldError
	conflict := func(key, why string) {
		errs = append(errs, FieldError{Field: field + "." + key, Code: CodeConflict, Message: why})
	}
	_, process := t.Spec.(scripted)
	for _, key := range []struct {
		name string
		n    int
	}{{"artifacts", len(t.Artifacts)}, {"uses", len(t.Uses)}} {
		switch {
		case key.n == 0:
		case !process:
			conflict(key.name, article(t.Type)+" "+t.Type+" task has no files: only what runs a script leaves and uses artifacts")
		case t.Cache.MaxAge > 0:
			conflict(key.name, "a task with a cache has no artifacts and uses none: what is kept of a success are its outputs alone")
		}
	}
	for i, name := range t.Artifacts {
		at := field + ".artifacts[" + strconv.Itoa(i) + "]"
		if fault := ArtifactFault(name); fault != "" {
			errs = append(errs, FieldError{Field: at, Code: document.CodeInvalid, Message: fault, Value: document.Shown(name)})
			continue
		}
		other := slices.IndexFunc(t.Artifacts[:i], func(o string) bool { return overlap(o, name) })
		if other >= 0 {
			errs = append(errs, FieldError{
				Field: at, Code: CodeDuplicateName, Value: document.Shown(name),
				Message: "the artifacts " + document.Quoted(t.Artifacts[other]) + " and " + document.Quoted(name) + " are the same, or one is in the other",
			})
		}
	}
	return errs
}

// overlap tells whether two artifacts share a file or a place.
func overlap(a, b string) bool {
	return HasArtifact(a, b) || HasArtifact(b, a) || strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") ||
		strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// uses reads the entries of uses.
func uses(field string, entries []string) ([]Use, []FieldError) {
	if len(entries) == 0 {
		return nil, nil
	}
	var errs []FieldError
	out := make([]Use, len(entries))
	for i, entry := range entries {
		at := field + "[" + strconv.Itoa(i) + "]"
		task, artifact, ok := strings.Cut(entry, "/")
		fault := "want the name of a task, a slash, and one of its artifacts, such as extract/report.csv"
		if ok && task != "" {
			fault = ArtifactFault(artifact)
		}
		switch {
		case fault != "":
			errs = append(errs, FieldError{Field: at, Code: document.CodeInvalid, Message: fault, Value: document.Shown(entry)})
		case len(task) > maxArtifactName:
			errs = append(errs, FieldError{
				Field: at, Code: document.CodeInvalid, Value: document.Shown(entry),
				Message: fmt.Sprintf("the task's name is over %d bytes, which no folder's can be", maxArtifactName),
			})
		case slices.Contains(entries[:i], entry):
			errs = append(errs, FieldError{Field: at, Code: CodeDuplicateName, Message: document.Quoted(entry) + " stands here twice", Value: document.Shown(entry)})
		default:
			out[i] = Use{Task: task, Artifact: artifact}
		}
	}
	return out, errs
}

// checkUses holds what tasks use against what the tasks before them leave. plan is nil where the graph has errors:
// then it is not known what comes before what.
func checkUses(def *Definition, plan *Plan) []FieldError {
	var errs []FieldError
	byName := map[string]int{}
	for i := range def.Tasks {
		byName[def.Tasks[i].Name] = i
	}
	for i := range def.Tasks {
		for k, use := range def.Tasks[i].Uses {
			if use.Task == "" {
				continue // it is wrong in itself
			}
			fail := func(code, message string) {
				errs = append(errs, FieldError{
					Field: def.field(i) + ".uses[" + strconv.Itoa(k) + "]", Code: code, Message: message, Value: document.Shown(use.Task + "/" + use.Artifact),
				})
			}
			from, ok := byName[use.Task]
			switch {
			case !ok:
				fail(CodeUnknownTask, "there is no task "+document.Quoted(use.Task))
			case !slices.ContainsFunc(def.Tasks[from].Artifacts, func(a string) bool { return HasArtifact(a, use.Artifact) }):
				fail(CodeUnknownName, "the task "+document.Quoted(use.Task)+" declares no artifact "+document.Quoted(use.Artifact))
			case plan != nil && !plan.outputs.sees(i, from):
				fail(CodeUnknownName, "this task does not come after "+document.Quoted(use.Task)+": add it to needs")
			}
		}
	}
	return errs
}
