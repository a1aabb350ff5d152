package trial

import (
	"reflect"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
)

// suiteText is a suite as its text has it.
type suiteText struct {
	Strict bool       `json:"strict" doc:"Every task that would run for real wants a result; without it such a task succeeds at once, without outputs."`
	Each   *eachText  `json:"each" doc:"What holds for every case that does not say otherwise."`
	Cases  []caseText `json:"cases" rule:"required,min=1,max=1000" doc:"The cases, each of which is one start of the workflow."`
}

// eachText is what cases may have in common.
type eachText struct {
	Params         document.Entries[dag.ValueText]                   `json:"params" rule:"max=1000" doc:"Start parameters by name."`
	ProjectParams  document.Entries[document.Text]                   `json:"project_params" rule:"max=1000" doc:"Parameters of the project by name."`
	Secrets        document.Entries[document.Text]                   `json:"secrets" rule:"max=1000" doc:"Values of secrets by name; one that is not given is secret-NAME."`
	MissingSecrets []string                                          `json:"missing_secrets" rule:"max=1000" doc:"Names of secrets that there are none of: a task that names one fails."`
	Environments   document.Entries[document.Entries[document.Text]] `json:"environments" rule:"max=1000" doc:"Variables of environments by their name; one that is not given has none."`
	ScheduleTime   dag.Moment                                        `json:"schedule_time" doc:"The moment that the run is about, such as 2026-03-29T04:00:00Z; nothing for a start by hand."`
	Now            dag.Moment                                        `json:"now" doc:"The moment of the start; where nothing is said the schedule time, else 2026-01-01T00:00:00Z."`
	Timezone       string                                            `json:"timezone" rule:"max=64" doc:"The timezone whose calendar dates are of, such as Europe/Berlin; UTC where nothing is said."`
	Tasks          document.Entries[resultsText]                     `json:"tasks" rule:"max=10000" doc:"How the attempts of a task end, by its name."`
}

// caseText is one case.
type caseText struct {
	Name           string                                            `json:"name" rule:"required,max=256" doc:"What the case shows; unique in the file."`
	Params         document.Entries[dag.ValueText]                   `json:"params" rule:"max=1000" doc:"Start parameters by name."`
	ProjectParams  document.Entries[document.Text]                   `json:"project_params" rule:"max=1000" doc:"Parameters of the project by name."`
	Secrets        document.Entries[document.Text]                   `json:"secrets" rule:"max=1000" doc:"Values of secrets by name; one that is not given is secret-NAME."`
	MissingSecrets []string                                          `json:"missing_secrets" rule:"max=1000" doc:"Names of secrets that there are none of: a task that names one fails."`
	Environments   document.Entries[document.Entries[document.Text]] `json:"environments" rule:"max=1000" doc:"Variables of environments by their name; one that is not given has none."`
	ScheduleTime   dag.Moment                                        `json:"schedule_time" doc:"The moment that the run is about, such as 2026-03-29T04:00:00Z; nothing for a start by hand."`
	Now            dag.Moment                                        `json:"now" doc:"The moment of the start; where nothing is said the schedule time, else 2026-01-01T00:00:00Z."`
	Timezone       string                                            `json:"timezone" rule:"max=64" doc:"The timezone whose calendar dates are of, such as Europe/Berlin; UTC where nothing is said."`
	StartTasks     []string                                          `json:"start_tasks" rule:"max=10000" doc:"Tasks to start with; all where nothing is said."`
	Scope          string                                            `json:"scope" rule:"enum=only|upstream|downstream" doc:"What chosen tasks bring along."`
	DryRun         bool                                              `json:"dry_run" doc:"Go through the graph without running a task."`
	OnFailure      string                                            `json:"on_failure" rule:"enum=continue|end|compensate" doc:"In place of the workflow's own."`
	Strict         *bool                                             `json:"strict" doc:"In place of the file's own."`
	Tasks          document.Entries[resultsText]                     `json:"tasks" rule:"max=10000" doc:"How the attempts of a task end, by its name."`
	Control        []controlText                                     `json:"control" rule:"max=1000" doc:"What people ask of the instance while it runs, or after."`
	Expect         expectText                                        `json:"expect" rule:"required" doc:"What must come of it: the state of the instance alone, or a map."`
}

// resultText is how an attempt ends.
type resultText struct {
	State    string                          `json:"state" rule:"enum=success|failed|timeout|lost|returned|killed|stopped|refused" default:"success" doc:"success, failed, or timeout: it goes on until a timeout ends it. On a worker also lost, returned or killed; of a sub_workflow also stopped or refused; of a dynamic task, each of its children ends so. An approval is approved, rejected, or left without an answer."`
	ExitCode *int                            `json:"exit_code" rule:"min=1,max=255" doc:"Of a failed script; 1 where nothing is said."`
	Reason   string                          `json:"reason" rule:"max=64" doc:"Why it failed, such as http_status; exit_code where nothing is said, of http tasks http_status."`
	Message  string                          `json:"message" rule:"max=4096" doc:"One line for people."`
	Outputs  document.Entries[document.Text] `json:"outputs" rule:"max=100" doc:"What it puts out, of the names that the task declares; a failure may, too, for the condition of its retry."`
	Takes    *document.Duration              `json:"takes" rule:"min=0s,max=365d" doc:"How long it runs on the trial's clock; no time where nothing is said."`
	Times    *int                            `json:"times" rule:"min=1,max=1000" doc:"How many attempts in a row end so; 1 where nothing is said. The last of a list holds for all that follow."`
}

// resultRules is resultText without its own reading, so that the reading can use the tags.
type resultRules resultText

// ReadDocument takes a plain text as the state.
func (r *resultText) ReadDocument(d *document.Decoder, n *document.Node, at *document.Path) {
	if n.Kind == document.String {
		r.State = n.Text
		return
	}
	d.Struct(n, at, document.Keys{Whose: "a result"}, (*resultRules)(r))
}

// CheckDocument checks both forms by the tags.
func (r resultText) CheckDocument(at *document.Path) []dag.FieldError {
	rules := resultRules(r)
	return document.Check(&rules, at)
}

// DescribeDocument describes both forms.
func (resultText) DescribeDocument(s *document.Schemas) document.Schema {
	return wordOr(s, reflect.TypeFor[resultRules]())
}

// resultsText is one result, or a list of them, one attempt after the other.
type resultsText struct {
	list   []resultText
	single bool
}

// ReadDocument takes both forms.
func (r *resultsText) ReadDocument(d *document.Decoder, n *document.Node, at *document.Path) {
	if n.Kind == document.List {
		d.Read(n, &r.list, at)
		return
	}
	r.single, r.list = true, make([]resultText, 1)
	d.Read(n, &r.list[0], at)
}

// CheckDocument checks each result at its own place.
func (r resultsText) CheckDocument(at *document.Path) []dag.FieldError {
	if len(r.list) == 0 {
		return []dag.FieldError{{Field: at.String(), Code: document.CodeRequired, Message: "the list is empty: give a result, or leave the task out"}}
	}
	var errs []dag.FieldError
	for i := range r.list {
		errs = append(errs, r.list[i].CheckDocument(r.place(at, i))...)
	}
	return errs
}

// place is where a result stands.
func (r resultsText) place(at *document.Path, i int) *document.Path {
	if r.single {
		return at
	}
	return at.Index(i)
}

// DescribeDocument describes both forms.
func (resultsText) DescribeDocument(s *document.Schemas) document.Schema {
	one := resultText{}.DescribeDocument(s)
	return document.Schema{"anyOf": []any{one, document.Schema{"type": "array", "minItems": 1, "items": one}}}
}

// controlText is what somebody asks at a moment.
type controlText struct {
	At     *document.Duration `json:"at" rule:"required,min=0s,max=365d" doc:"When, after the start."`
	Verb   string             `json:"verb" rule:"required,enum=pause|resume|stop|kill|skip|force_success|recover|rerun" doc:"What is asked."`
	Tasks  []string           `json:"tasks" rule:"max=10000" doc:"Of which tasks."`
	Scope  string             `json:"scope" rule:"enum=only|upstream|downstream" doc:"Of a rerun: what the tasks bring along."`
	Force  bool               `json:"force" doc:"Of a stop: do not wait for anybody's word."`
	Answer string             `json:"answer" rule:"max=64" default:"applied" doc:"The answer that must come."`
}

// expectText is what must come of a case. What is not said may be anything.
type expectText struct {
	State   string                           `json:"state" rule:"enum=success|failed|stopped|paused" doc:"The state of the instance when nothing more is due."`
	Reason  *string                          `json:"reason" doc:"The reason beside it."`
	Took    *document.Duration               `json:"took" rule:"min=0s,max=3650d" doc:"The time from the start to the last end."`
	Ran     []string                         `json:"ran" rule:"max=10000" doc:"Exactly the tasks that had an attempt, in any order."`
	Order   []string                         `json:"order" rule:"max=10000" doc:"Tasks in the order of their first attempts; others may come between."`
	Tasks   document.Entries[expectTaskText] `json:"tasks" rule:"max=10000" doc:"What must come of a task, by its name: its state alone, or a map."`
	Refused []string                         `json:"refused" rule:"max=1000" doc:"The start parameters that must be refused, by name; nothing else is looked at."`

	word bool // written as a state alone
}

// expectRules is expectText without its own reading, so that the reading can use the tags.
type expectRules expectText

// ReadDocument takes a plain text as the state.
func (e *expectText) ReadDocument(d *document.Decoder, n *document.Node, at *document.Path) {
	if n.Kind == document.String {
		e.State, e.word = n.Text, true
		return
	}
	d.Struct(n, at, document.Keys{Whose: "an expectation"}, (*expectRules)(e))
}

// CheckDocument checks both forms, and that something is expected.
func (e expectText) CheckDocument(at *document.Path) []dag.FieldError {
	rules := expectRules(e)
	errs := document.Check(&rules, at)
	if e.State == "" && e.Reason == nil && e.Took == nil && e.Ran == nil && e.Order == nil && e.Tasks == nil && e.Refused == nil {
		errs = append(errs, dag.FieldError{Field: at.String(), Code: document.CodeRequired, Message: "nothing is expected: give a state, such as success"})
	}
	return errs
}

// DescribeDocument describes both forms.
func (expectText) DescribeDocument(s *document.Schemas) document.Schema {
	return wordOr(s, reflect.TypeFor[expectRules]())
}

// expectTaskText is what must come of one task.
type expectTaskText struct {
	State    string                          `json:"state" rule:"enum=waiting|ready|running|retry_wait|success|forced_success|failed|killed|skipped|upstream_failed|disabled|not_in_scope" doc:"Its state when nothing more is due."`
	Reason   *string                         `json:"reason" rule:"max=64" doc:"The reason beside it; an empty text for none."`
	Attempts *int                            `json:"attempts" rule:"min=0,max=100000" doc:"How many attempts it had."`
	Env      document.Entries[document.Text] `json:"env" rule:"max=1000" doc:"Variables of its last attempt, as the script sees them."`
	Spec     document.Entries[document.Text] `json:"spec" rule:"max=100" doc:"Its own keys in the last attempt, with values put in, such as url."`
	Params   document.Entries[dag.ValueText] `json:"params" rule:"max=1000" doc:"Of a sub_workflow: what its child is started with; of a dynamic task, its last child."`
	Outputs  document.Entries[document.Text] `json:"outputs" rule:"max=100" doc:"What it put out."`
	Started  *document.Duration              `json:"started" rule:"min=0s,max=3650d" doc:"When its first attempt began, after the start."`
	Ended    *document.Duration              `json:"ended" rule:"min=0s,max=3650d" doc:"When it ended, after the start."`

	word bool // written as a state alone
}

// expectTaskRules is expectTaskText without its own reading, so that the reading can use the tags.
type expectTaskRules expectTaskText

// ReadDocument takes a plain text as the state.
func (e *expectTaskText) ReadDocument(d *document.Decoder, n *document.Node, at *document.Path) {
	if n.Kind == document.String {
		e.State, e.word = n.Text, true
		return
	}
	d.Struct(n, at, document.Keys{Whose: "what is expected of a task"}, (*expectTaskRules)(e))
}

// CheckDocument checks both forms by the tags.
func (e expectTaskText) CheckDocument(at *document.Path) []dag.FieldError {
	rules := expectTaskRules(e)
	return document.Check(&rules, at)
}

// DescribeDocument describes both forms.
func (expectTaskText) DescribeDocument(s *document.Schemas) document.Schema {
	return wordOr(s, reflect.TypeFor[expectTaskRules]())
}

// wordOr describes a map that may also be written as its state alone.
func wordOr(s *document.Schemas, form reflect.Type) document.Schema {
	described := s.Object(form)
	state := described["properties"].(map[string]any)["state"].(document.Schema)
	return document.Schema{"anyOf": []any{document.Schema{"enum": state["enum"]}, described}}
}
