package dag

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag/document"
)

// The bounds of a secret's value. What is shorter than MinSecret can't be told from chance in a
// log, so that it could not be masked there.
const (
	MinSecret = 4
	MaxSecret = 64 << 10
)

// secretPrefix begins the name of a secret in a text: ${secret.NAME}.
const secretPrefix = "secret."

// NoSecretError says why Resolve gives no TaskRun: the task names a secret that Facts does not have.
type NoSecretError struct {
	FieldError
	Name string
}

// secretName is the secret in secret.NAME. In a plan that has a task "secret" the name is
// that of the task's output.
func secretName(plan *Plan, name string) (string, bool) {
	secret, ok := strings.CutPrefix(name, secretPrefix)
	if !ok || !isIdentifier(secret) {
		return "", false
	}
	if plan != nil {
		if _, task := plan.Task("secret"); task {
			return "", false
		}
	}
	return secret, true
}

// NamedSecret returns the name in a text that is ${secret.NAME} as a whole.
func NamedSecret(text string) (name string, ok bool) {
	inner, ok := strings.CutPrefix(text, "${")
	if !ok {
		return "", false
	}
	if inner, ok = strings.CutSuffix(inner, "}"); !ok {
		return "", false
	}
	return secretName(nil, inner)
}

// CheckSecretName holds the name of a secret, which stands at field, against the rules.
func CheckSecretName(field, name string) []FieldError { return checkVariable(field, name, "a secret") }

// CheckSecret holds the name and the value of a secret against the rules. The fields are secret
// and value; no error shows the value.
func CheckSecret(name, value string) []FieldError {
	errs := CheckSecretName("secret", name)
	switch {
	case len(value) < MinSecret || strings.TrimSpace(value) == "":
		errs = append(errs, FieldError{Field: "value", Code: document.CodeOutOfRange, Message: "want at least 4 bytes, not all of them blank: a shorter value can't be masked in logs"})
	case len(value) > MaxSecret:
		errs = append(errs, FieldError{Field: "value", Code: document.CodeTooLarge, Message: "want at most 64 KiB"})
	}
	if err := checkText("value", value); err != nil {
		err.Value = ""
		errs = append(errs, *err)
	}
	return errs
}

// secretive is a spec some of whose texts may hold secrets.
type secretive interface{ secretField(field string) bool }

// secretField says that a call's address, headers and body may hold secrets.
func (*HTTPSpec) secretField(field string) bool {
	return field == "url" || field == "body" || strings.HasPrefix(field, "headers")
}

// Secrets returns the names of the secrets that a task refers to, in order, each once. They
// stand in its env, and in those texts of its spec that may hold them.
func (p *Plan) Secrets(task int) []string { return p.secrets[task] }

func (p *Plan) secretsOf(t *Task) []string {
	var names []string
	collect := func(text string) {
		_, _ = expand(text, func(name string) (string, *FieldError) {
			if secret, ok := secretName(p, name); ok {
				names = append(names, secret)
			}
			return "", nil
		})
	}
	for i := range t.Env {
		collect(t.Env[i].Value)
	}
	if spec, ok := t.Spec.(secretive); ok {
		eachText(reflect.ValueOf(t.Spec), "", func(field, text string) string {
			if spec.secretField(field) {
				collect(text)
			}
			return text
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// worksOnWorker says that a task of this type does its work on a worker, which alone gets the values of secrets.
func worksOnWorker(name string) bool {
	i := slices.IndexFunc(taskTypes[:], func(t taskType) bool { return t.name == name })
	return i >= 0 && taskTypes[i].category == CategoryRun
}

// withSecrets is a check of the names in a text of task i that may hold secrets, too.
func (r *references) withSecrets(i int, known func(name string) *FieldError) func(name string) *FieldError {
	if !worksOnWorker(r.def.Tasks[i].Type) {
		return known
	}
	return func(name string) *FieldError {
		if _, ok := secretName(r.plan, name); ok {
			return nil
		}
		return known(name)
	}
}

// misplaced says that a secret may not stand where its name was found.
func misplaced(name string) *FieldError {
	return &FieldError{
		Code: document.CodeInvalid, Value: document.Shown(name), Args: Args{"name": document.Shown(name)},
		Message: "a secret can't stand here, where its value would be kept or shown: it can in env of a task that a worker runs, and in url, headers and body of an http task",
	}
}

// sealed is lookup for a text that may hold secrets; holds is set where it does.
func (r *resolver) sealed(holds *bool) func(name string) (string, *FieldError) {
	return func(name string) (string, *FieldError) {
		secret, ok := secretName(r.in.plan, name)
		if !ok {
			return r.lookup(name)
		}
		value, ok := r.secrets[secret]
		if !ok {
			r.noSecret = secret
			return "", &FieldError{Code: CodeUnknownName, Value: document.Shown(name), Message: "there is no secret " + document.Quoted(secret) + ", neither in the project nor for all projects"}
		}
		*holds, r.used[secret] = true, value
		return value, nil
	}
}

// hush takes what was put in out of an error about a text that holds a secret. One about a name shows
// only that.
func hush(err *FieldError, holds bool) *FieldError {
	if err == nil || !holds || err.Code == CodeUnknownName {
		return err
	}
	return &FieldError{Field: err.Field, Code: err.Code, Message: "with its secrets put in, this is no value that fits here"}
}

// ResolveShown is Resolve for who shows the outcome or only plays the run: each reference to a secret stands for
// itself, whether there is such a secret or not.
func ResolveShown(in *Instance, task int, facts Facts) (TaskRun, error) {
	names := in.plan.Secrets(task)
	facts.Secrets = make(map[string]string, len(names))
	for _, name := range names {
		facts.Secrets[name] = "${" + secretPrefix + name + "}"
	}
	run, err := Resolve(in, task, facts)
	if err != nil {
		return TaskRun{}, err
	}
	maps.Copy(run.Env, run.SecretEnv)
	run.SecretEnv, run.Secrets, run.SecretSpec = nil, nil, false
	return run, nil
}
