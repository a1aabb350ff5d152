package dag

import (
	"fmt"
	"strings"

	"github.com/porpoise/porpoise/dag/document"
	dates "github.com/porpoise/porpoise/dag/moment"
)

// maxScript bounds the text of a script, also one into which values were put.
const maxScript = 1 << 20

// maxReference bounds what is looked at as one ${name} or $[...]: no name and no date is longer, and a
// script full of opened braces costs no more than its length.
const maxReference = 1 << 10

// scripted is a spec with a script that a process runs.
type scripted interface{ text() *string }

func (s *ShellSpec) text() *string  { return &s.Script }
func (s *PythonSpec) text() *string { return &s.Script }

// checkAsItStands finds in a script that is run as it stands what only raw replaces.
func checkAsItStands(field string, spec Spec) []FieldError {
	s, ok := spec.(scripted)
	if !ok {
		return nil
	}
	script := *s.text()
	fail := func(code, message, value string) []FieldError {
		return []FieldError{{Field: field + ".script", Code: code, Message: message, Value: document.Shown(value)}}
	}
	if at := strings.Index(script, "$["); at >= 0 {
		return fail(document.CodeInvalid,
			"time expressions ($[...]) are not replaced in scripts: use a variable such as ${system_biz_date}, reckon with date, or set raw: true", script[at:])
	}
	if dotted := dottedReference(script); dotted != "" {
		return fail(document.CodeInvalid, "the script is run as it stands, "+document.Quoted(dotted)+" is not replaced: "+wayOut(dotted), dotted)
	}
	return nil
}

// wayOut says what to write in a script instead of a dotted reference.
func wayOut(dotted string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(dotted, "${"), "}")
	if strings.HasPrefix(name, "system.") {
		return "use the variable " + strings.ReplaceAll(name, ".", "_")
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	return "use the variable " + last + ", or set one of your own under env: (" + last + ": " + dotted + ")"
}

// raw checks the references of a raw script that no shell could mean: those with a dot. A plain name
// that nothing gives is left to the script, which may set it.
func (r *references) raw(i int) {
	s, ok := r.def.Tasks[i].Spec.(scripted)
	if !ok || !r.def.Tasks[i].Raw {
		return
	}
	for _, reference := range dotted.FindAllString(*s.text(), maxPlanErrors) {
		if err := r.known(i, reference[2:len(reference)-1], true); err != nil {
			err.Field = r.def.field(i) + ".script"
			r.errs = append(r.errs, *err)
			return
		}
	}
}

// rawScript puts values and dates into the text of a script, as DolphinScheduler does: each ${name} that has
// a value, and each $[...] that is a date. Everything else stays as it is, since it may be the
// script's own. What is put in is not looked at again, and is not quoted: it becomes part of the program.
func (r *resolver) rawScript(script string) (string, *FieldError) {
	var b strings.Builder
	for {
		at := strings.IndexByte(script, '$')
		if at < 0 {
			at = len(script)
		}
		b.WriteString(script[:at])
		value, length := r.rawPiece(script[at:])
		b.WriteString(value)
		if b.Len() > maxScript {
			return "", &FieldError{Code: document.CodeTooLarge, Message: fmt.Sprintf("with its values put in, the script has more than %d bytes", maxScript)}
		}
		if script = script[at+length:]; script == "" {
			return b.String(), nil
		}
	}
}

// rawPiece returns what stands for the beginning of a text, which is a $ or nothing, and how much of the text
// that is.
func (r *resolver) rawPiece(text string) (value string, length int) {
	if len(text) < 2 {
		return text, len(text)
	}
	closing := map[byte]string{'{': "}", '[': "]"}[text[1]]
	end := -1
	if closing != "" {
		end = strings.Index(text[:min(len(text), maxReference)], closing)
	}
	switch {
	case end < 0:
	case closing == "}":
		if value, err := r.lookup(text[2:end]); err == nil {
			return value, end + 1
		}
	default:
		if date, ok := r.rawDate(text[:end+1]); ok {
			return date, end + 1
		}
	}
	return text[:1], 1
}

func (r *resolver) rawDate(text string) (string, bool) {
	inside, wrong := expand(text, partOfDate(r.lookup))
	if wrong != nil {
		return "", false
	}
	date, err := dates.Expand(inside, r.base)
	return date, err == nil
}
