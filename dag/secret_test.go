package dag

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

const withSecrets = `
name: w
params: {a: "plain ${project.region}"}
tasks:
  - {name: t, type: shell, script: x, params: {TOKEN: hidden by env}, env: {TOKEN: "Bearer ${secret.token}", BOTH: "${secret.token}:${secret.db}@${a}", PLAIN: "${a}"}}
  - {name: h, type: http, url: "http://x/${secret.token}", headers: {X-Key: "${secret.db}", X-A: "${a}"}, body: "$${secret.no} ${secret.token}"}
  - {name: n, type: shell, script: x}
`

func secretFacts() Facts {
	f := facts()
	f.ProjectParams = map[string]string{"region": "${secret.db}"} // a value is never looked at again
	f.Secrets = map[string]string{"token": "t0k\"en", "db": "pa${a}ss", "other": "unused"}
	return f
}

func TestSecretsArePutInApartFromTheRest(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, withSecrets)
	in := instanceOf(plan, map[string]string{})
	run, err := Resolve(in, 0, secretFacts())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"TOKEN": `Bearer t0k"en`, "BOTH": `t0k"en:pa${a}ss@plain ${secret.db}`}
	if !maps.Equal(run.SecretEnv, want) || run.SecretSpec {
		t.Errorf("variables with secrets = %q, want %q", run.SecretEnv, want)
	}
	if _, there := run.Env["TOKEN"]; there || run.Env["PLAIN"] != "plain ${secret.db}" {
		t.Errorf("the other variables = %q", run.Env)
	}
	if !maps.Equal(run.Secrets, map[string]string{"token": "t0k\"en", "db": "pa${a}ss"}) {
		t.Errorf("put in were %q", run.Secrets)
	}
	run, err = Resolve(in, 1, secretFacts())
	var spec HTTPSpec
	if err != nil || json.Unmarshal(run.Spec, &spec) != nil || !run.SecretSpec {
		t.Fatalf("run = %+v, %v", run, err)
	}
	if spec.URL != `http://x/t0k"en` || spec.Headers["X-Key"] != "pa${a}ss" || spec.Headers["X-A"] != "plain ${secret.db}" || spec.Body != `${secret.no} t0k"en` {
		t.Errorf("spec = %+v", spec)
	}
	if run, err = Resolve(in, 2, secretFacts()); err != nil || run.SecretEnv != nil || len(run.Secrets) != 0 {
		t.Errorf("a task without secrets: %+v, %v", run, err)
	}
	for i, want := range [][]string{{"db", "token"}, {"db", "token"}, nil} {
		if got := plan.Secrets(i); !slices.Equal(got, want) {
			t.Errorf("secrets of task %d = %v, want %v", i, got, want)
		}
	}
}

func TestASecretThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	in := instanceOf(mustPlan(t, withSecrets), nil)
	f := secretFacts()
	delete(f.Secrets, "db")
	for task, field := range []string{"tasks[0].env.BOTH", "tasks[1].headers.X-Key"} {
		_, err := Resolve(in, task, f)
		var none NoSecretError
		if !errors.As(err, &none) || none.Name != "db" || !strings.HasPrefix(err.Error(), strings.SplitAfter(field, "X")[0]) || !strings.Contains(err.Error(), `"db"`) {
			t.Errorf("task %d: %v, want one of db at %s", task, err, field)
		}
	}
}

// No error may hold a value: errors are kept and shown.
func TestErrorsDoNotTellSecrets(t *testing.T) {
	t.Parallel()
	const canary = "line one canary\nline two"
	f := secretFacts()
	f.Secrets = map[string]string{"db": canary}
	for _, task := range []string{
		`{name: t, type: http, url: "http://x", headers: {X: "${secret.db}"}}`,
		`{name: t, type: http, url: "${secret.db}"}`,
		`{name: t, type: shell, script: x, env: {A: "$[yyyy-${secret.db}]"}}`,
	} {
		plan, wrong := ParsePlan([]byte("name: w\ntasks:\n  - "+task+"\n"), "yaml")
		if len(wrong) > 0 {
			continue // refused already where it is saved
		}
		_, err := Resolve(instanceOf(plan, nil), 0, f)
		text, _ := json.Marshal(err)
		if err == nil || strings.Contains(err.Error()+string(text), "canary") {
			t.Errorf("%s: error %v %s", task, err, text)
		}
	}
	for _, value := range []string{"abc", "    ", strings.Repeat("x", MaxSecret+1), "canary\x00", "canary\xff"} {
		wrong := CheckSecret("db", value)
		if text, _ := json.Marshal(wrong); len(wrong) == 0 || strings.Contains(string(text), "canary") {
			t.Errorf("CheckSecret(%.10q) = %s", value, text)
		}
	}
	if wrong := CheckSecret("a-b", "good value"); len(wrong) != 1 || wrong[0].Field != "secret" {
		t.Errorf("a bad name gives %+v", wrong)
	}
}

func TestSecretsStandOnlyWhereTheyAreNotKept(t *testing.T) {
	t.Parallel()
	for text, field := range map[string]string{
		"params: {a: \"${secret.db}\"}\ntasks:\n  - {name: t, type: noop}":                                "params.a",
		"tasks:\n  - {name: t, type: shell, script: x, params: {a: \"${secret.db}\"}}":                    "tasks[0].params.a",
		"tasks:\n  - {name: t, type: shell, script: x, working_dir: \"/${secret.db}\"}":                   "tasks[0].working_dir",
		"tasks:\n  - {name: t, type: noop, env: {A: \"${secret.db}\"}}":                                   "tasks[0].env.A",
		"tasks:\n  - {name: t, type: http, url: \"http://x\", expect: {body_contains: \"${secret.db}\"}}": "tasks[0].expect.body_contains",
		"tasks:\n  - {name: t, type: sub_workflow, workflow: other, params: {a: \"${secret.db}\"}}":       "tasks[0].params.a",
		"tasks:\n  - {name: t, type: shell, script: 'echo ${secret.db}'}":                                 "tasks[0].script",
		"concurrency: {limit: 1, key: \"${secret.db}\"}\ntasks:\n  - {name: t, type: noop}":               "concurrency.key",
		"tasks:\n  - {name: t, type: shell, script: x, when: 'secret.db == \"x\"'}":                       "tasks[0].when",
	} {
		_, wrong := ParsePlan([]byte("name: w\n"+text+"\n"), "yaml")
		if len(wrong) != 1 || wrong[0].Field != field {
			t.Errorf("%s\ngives %+v, want one error at %s", text, wrong, field)
		}
	}
}

func TestATaskNamedSecretKeepsItsOutputs(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, "name: w\ntasks:\n  - {name: secret, type: shell, script: x, outputs: [db]}\n  - {name: t, type: shell, script: x, needs: [secret], env: {A: \"${secret.db}\"}}\n")
	in := instanceOf(plan, nil)
	in.Tasks[0].Outputs = map[string]string{"db": "output"}
	run, err := Resolve(in, 1, secretFacts())
	if err != nil || run.Env["A"] != "output" || len(plan.Secrets(1)) != 0 {
		t.Errorf("env = %q, %v, secrets %v", run.Env, err, plan.Secrets(1))
	}
}

func TestATraceShowsNamesOfSecretsAlone(t *testing.T) {
	t.Parallel()
	in := instanceOf(mustPlan(t, withSecrets), nil)
	f := secretFacts()
	delete(f.Secrets, "db")
	trace, err := TraceTask(in, 0, f)
	if err != nil || trace.Env["TOKEN"] != "Bearer ${secret.token}" {
		t.Errorf("env = %q, %v", trace.Env, err)
	}
	if len(trace.Unresolved) != 1 || trace.Unresolved[0] != (Unresolved{"secret.db", "env.BOTH"}) {
		t.Errorf("unresolved = %+v, want db alone", trace.Unresolved)
	}
	if trace, err = TraceTask(in, 1, f); err != nil || trace.Spec["url"] != "http://x/${secret.token}" {
		t.Errorf("spec = %v, %v", trace.Spec, err)
	}
	if text, _ := json.Marshal(trace); strings.Contains(string(text), "t0k") {
		t.Errorf("the trace shows a value: %s", text)
	}
}

func TestALackOfASecretUsesUpNoRetry(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, "name: w\ntasks:\n  - {name: t, type: shell, script: x, retry: {times: 5}, env: {A: \"${secret.db}\"}}\n")
	in := NewInstance(plan, 1, StartOptions{})
	in.Step(Begin{}, 1)
	in.Step(Assign{Task: 0, Worker: "w1", Incarnation: "x", Token: "k"}, 2)
	in.Step(Report{Task: 0, Number: 1, Token: "k", State: AttemptFailed, Reason: ReasonSecret, Message: "there is none"}, 3)
	if got := in.Tasks[0]; got.State != TaskFailed || got.Reason != ReasonSecret || got.Retries != 0 || in.State != InstanceFailed {
		t.Errorf("task = %s (%s) after %d retries, instance %s", got.State, got.Reason, got.Retries, in.State)
	}
	if text := in.Explain(4, 0).Text; !strings.Contains(text, "secret") {
		t.Errorf("it is explained by %q", text)
	}
}
