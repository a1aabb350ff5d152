package dolphin

import (
	"strings"
)

// shell writes the script of a shell task.
func (w *writing) shell() {
	w.kind = typeShell
	text := w.script(codeShell)
	if w.kind == typeNoop {
		return
	}
	if usesReplacement(text, w.replaced, shellExpands) {
		w.counts()
	}
	w.own.set(keyScript, w.renamed(text))
	w.own.set(keyInterpreter, "bash")
}

// python writes the script of a python task. Nothing in it is expanded by the interpreter.
func (w *writing) python() {
	w.kind = typePython
	text := w.script(codePython)
	if w.kind == typeNoop {
		return
	}
	if usesReplacement(text, w.replaced, func(string, int) bool { return false }) {
		w.counts()
	}
	w.own.set(keyScript, w.renamed(text))
}

// script reads a script. An empty one makes a task that does nothing.
func (w *writing) script(code string) string {
	at := w.t.params.path("rawScript")
	text := w.lines(at, w.t.params.text("rawScript"))
	if strings.TrimSpace(text) == "" {
		w.kind = typeNoop
		w.t.notes.add(codeEmptyScript, w.t.params.at)
		return ""
	}
	w.t.notes.add(code, at)
	return text
}

// renamed gives the parameters in a script the names that they have here, and the outputs that
// it prints.
func (w *writing) renamed(script string) string {
	for i := range w.t.outputs {
		if o := &w.t.outputs[i]; o.was != o.name {
			script = strings.ReplaceAll(script, "setValue("+o.was+"=", "setValue("+o.name+"=")
		}
	}
	return reference.ReplaceAllStringFunc(script, func(ref string) string {
		was := ref[2 : len(ref)-1]
		for _, ps := range []params{w.t.inputs, w.globals} {
			if p := ps.find(was); p != nil {
				return "${" + p.name + "}"
			}
		}
		if name := w.above(was); name != "" {
			return "${" + name + "}"
		}
		return ref
	})
}

// lines gives a text the line ends that it would have there when it runs.
func (w *writing) lines(at, text string) string {
	if !strings.Contains(text, "\r") {
		return text
	}
	w.t.notes.add(codeLineEnds, at)
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// counts marks a task whose script counts on text replacement.
func (w *writing) counts() {
	w.raw = true
	w.t.notes.add(codeRaw, w.t.params.path("rawScript"))
}

// replaced tells whether a name would be replaced in a script of the task, and whether it must
// be replaced as text: a variable cannot have its name, or its value holds what a shell would
// run.
func (w *writing) replaced(was string) (asText, ok bool) {
	for _, ps := range []params{w.t.inputs, w.globals} {
		if p := ps.find(was); p != nil {
			return p.was != p.name || strings.ContainsAny(p.value, "|;&<>`()'\"\\\n") && !timeExpression.MatchString(p.value), true
		}
	}
	name := w.above(was)
	return name != was || strings.Contains(was, "."), name != ""
}

// usesReplacement tells whether a script counts on text replacement: it has $[...] or !{...},
// or a ${name} that is known and that nothing expands where it stands.
func usesReplacement(script string, known func(was string) (asText, ok bool), expands func(script string, at int) bool) bool {
	if timeExpression.MatchString(script) || strings.Contains(script, "!{") {
		return true
	}
	for _, at := range reference.FindAllStringSubmatchIndex(script, -1) {
		name := script[at[2]:at[3]]
		asText, ok := known(name)
		if strings.HasPrefix(name, "system.") || ok && (asText || !expands(script, at[0])) {
			return true
		}
	}
	return false
}

// shellExpands tells whether a shell expands a variable at a place of a script: not in single
// quotes, behind a backslash, or in a here-document whose mark is quoted. It errs towards no,
// because then the text is replaced as it was there.
func shellExpands(script string, at int) bool {
	s := shellScan{text: script, to: at}
	return s.expands()
}

// shellScan walks through a script up to a place.
type shellScan struct {
	text   string
	to     int
	marks  []string // quoted here-documents that begin at the next line
	double bool
}

func (s *shellScan) expands() bool {
	for i := 0; i < s.to; {
		switch c := s.text[i]; {
		case c == '\\':
			if i+1 == s.to {
				return false
			}
			i += 2
		case c == '"':
			s.double = !s.double
			i++
		case c == '\'' && !s.double:
			end := strings.IndexByte(s.text[i+1:], '\'')
			if end < 0 || i+1+end >= s.to {
				return false
			}
			i += end + 2
		case c == '#' && !s.double && (i == 0 || strings.IndexByte(" \t\n;", s.text[i-1]) >= 0):
			end := strings.IndexByte(s.text[i:], '\n')
			if end < 0 || i+end >= s.to {
				return true // a comment: nobody minds
			}
			i += end
		case !s.double && strings.HasPrefix(s.text[i:], "<<<"):
			i += 3
		case !s.double && strings.HasPrefix(s.text[i:], "<<"):
			i = s.mark(i + 2)
		case c == '\n' && len(s.marks) > 0:
			end := s.document(i + 1)
			if end > s.to {
				return false
			}
			i = end
		default:
			i++
		}
	}
	return true
}

// mark reads the mark of a here-document and remembers it if it is quoted.
func (s *shellScan) mark(i int) int {
	for i < len(s.text) && strings.IndexByte("- \t", s.text[i]) >= 0 {
		i++
	}
	if i >= len(s.text) || s.text[i] != '\'' && s.text[i] != '"' {
		return i
	}
	quote := s.text[i]
	end := strings.IndexByte(s.text[i+1:], quote)
	if end < 0 {
		return len(s.text)
	}
	s.marks = append(s.marks, s.text[i+1:i+1+end])
	return i + end + 2
}

// document returns where the quoted here-documents that begin at i are over.
func (s *shellScan) document(i int) int {
	for _, mark := range s.marks {
		for {
			line, rest, more := strings.Cut(s.text[i:], "\n")
			i = len(s.text) - len(rest)
			if strings.TrimLeft(line, "\t") == mark {
				break
			}
			if !more {
				s.marks = nil
				return len(s.text) + 1
			}
		}
	}
	s.marks = nil
	return i
}
