package dag

import "github.com/porpoise/porpoise/dag/document"

// ShellSpec is what a shell task has for itself.
type ShellSpec struct {
	Script      string `json:"script" verbatim:"true" rule:"required,max=1048576" editor:"script:shell" doc:"The text of the script. It is run as it stands; parameters are environment variables, as in ${day}."`
	Interpreter string `json:"interpreter,omitempty" rule:"max=4096" default:"sh" advanced:"true" doc:"The shell that runs the script: a name that the worker finds in its PATH, or an absolute path."`
}

// Validate checks the script and the interpreter's form.
func (s *ShellSpec) Validate() []FieldError {
	return append(document.Check(s, nil), append(checkScript(s.Script), checkInterpreter(s.Interpreter)...)...)
}

// PythonSpec is what a python task has for itself.
type PythonSpec struct {
	Script      string `json:"script" verbatim:"true" rule:"required,max=1048576" editor:"script:python" doc:"The text of the program. Parameters are environment variables, as in os.environ[\"day\"]."`
	Interpreter string `json:"interpreter,omitempty" rule:"max=4096" default:"python3" advanced:"true" doc:"The Python that runs the script: a name that the worker finds in its PATH, or an absolute path."`
}

// Validate checks the script and the interpreter's form.
func (s *PythonSpec) Validate() []FieldError {
	return append(document.Check(s, nil), append(checkScript(s.Script), checkInterpreter(s.Interpreter)...)...)
}

// checkInterpreter takes a bare name or an absolute path. A relative path would mean
// another program in every working directory, and words after the name are not split.
func checkInterpreter(name string) []FieldError {
	if name == "" {
		return nil
	}
	fail := func(message string) []FieldError {
		return []FieldError{{Field: "interpreter", Code: document.CodeInvalid, Message: message, Value: document.Shown(name)}}
	}
	slash := false
	for _, r := range name {
		if r <= ' ' || r == 0x7f {
			return fail("give one program's name or absolute path, without arguments or spaces")
		}
		slash = slash || r == '/'
	}
	if name[0] == '-' || slash && name[0] != '/' {
		return fail("give a program's name, such as bash, or its absolute path, such as /bin/bash")
	}
	return nil
}

// NoopSpec is what a noop task has for itself: nothing.
type NoopSpec struct{}

// Validate finds nothing to check.
func (*NoopSpec) Validate() []FieldError { return nil }
