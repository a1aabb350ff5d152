package dag

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag/document"
)

// storyStart is the moment at which stories begin.
const storyStart Millis = 1_000_000

// napSpec is a wait task's spec for tests.
type napSpec struct{ d time.Duration }

func (napSpec) Validate() []FieldError  { return nil }
func (n napSpec) End(now Millis) Millis { return now.Add(n.d) }

// planOf links tasks by their names; it trusts its caller that they have no cycle.
func planOf(def *Definition) *Plan {
	n := len(def.Tasks)
	p := &Plan{Definition: def, Succ: make([][]int, n), Pred: make([][]int, n), index: make(map[string]int, n)}
	for i := range def.Tasks {
		p.index[def.Tasks[i].Name] = i
	}
	unmet := make([]int, n)
	for i := range def.Tasks {
		for _, need := range def.Tasks[i].Needs {
			j := p.index[need]
			p.Pred[i], p.Succ[j] = append(p.Pred[i], j), append(p.Succ[j], i)
			unmet[i]++
		}
	}
	for i := range n {
		if unmet[i] == 0 {
			p.Order = append(p.Order, i)
		}
	}
	for head := 0; head < len(p.Order); head++ {
		for _, j := range p.Succ[p.Order[head]] {
			if unmet[j]--; unmet[j] == 0 {
				p.Order = append(p.Order, j)
			}
		}
	}
	if errs := p.compile(); len(errs) > 0 {
		panic(fmt.Sprint(errs))
	}
	p.outputs, p.refs, p.secrets = newOutputs(p), make([]bool, n), make([][]string, n)
	return p
}

// parsePlan reads a story's plan: options of the workflow, then a task per line, such as
// "b needs=a retry=3 delay=10s backoff=2 timeout=1m:fail".
func parsePlan(t *testing.T, words, lines []string) *Plan {
	opt := options(words)
	def := &Definition{Name: "story", OnFailure: OnFailure(opt["on_failure"]), Timeout: timeout(t, opt["timeout"])}
	var undone []int
	for _, line := range lines {
		words := strings.Fields(line)
		opt := options(words)
		task := Task{Name: words[0], Type: "shell", Timeout: timeout(t, opt["timeout"])}
		if opt["needs"] != "" {
			task.Needs = strings.Split(opt["needs"], ",")
		}
		if opt["wait"] != "" {
			task.Type, task.Spec = TypeWait, napSpec{duration(t, opt["wait"])}
		}
		if opt["sub"] != "" {
			task.Type, task.Spec = TypeSubWorkflow, &SubWorkflowSpec{Workflow: opt["sub"]}
			task.Outputs = []string{"out"}
		}
		if opt["dynamic"] != "" {
			parallel, _ := strconv.Atoi(opt["parallel"])
			task.Type, task.Spec = TypeDynamic, &DynamicSpec{Workflow: opt["dynamic"], Parallel: parallel, OnFailure: opt["on_failure"]}
			task.Outputs = []string{"out"}
		}
		if opt["dependent"] != "" {
			task.Type, task.Spec, task.Outputs = TypeDependent, &DependentSpec{}, []string{"out"}
		}
		if opt["approval"] != "" {
			quorum, _ := strconv.Atoi(opt["approval"])
			task.Type, task.Outputs = TypeApproval, []string{"out"}
			task.Spec = &ApprovalSpec{Quorum: quorum, Expires: Duration(duration(t, opt["expires"])), OnExpiry: opt["on_expiry"], Form: drawnForm("out")}
		}
		task.Retry.Times, _ = strconv.Atoi(opt["retry"])
		task.Retry.Backoff, _ = strconv.ParseFloat(opt["backoff"], 64)
		task.Retry.Delay = duration(t, opt["delay"])
		task.Retry.MaxDelay = duration(t, opt["max_delay"])
		for d := range strings.SplitSeq(opt["delays"], ",") {
			if d != "" {
				task.Retry.Delays = append(task.Retry.Delays, duration(t, d))
			}
		}
		task.Retry.OnExitCodes, task.Retry.NotOnExitCodes = codes(t, opt["on"]), codes(t, opt["not_on"])
		task.Retry.When, task.Retry.Elsewhere = opt["retry_when"], opt["elsewhere"] != ""
		task.Delay, task.QueueTimeout, task.OnLost = duration(t, opt["start_delay"]), timeout(t, opt["queue_timeout"]), OnLost(opt["on_lost"])
		if until, ok := opt["until"]; ok {
			task.Repeat = Repeat{Until: until, Max: 3, Delay: duration(t, opt["again"])}
			task.Outputs = []string{"out"}
		}
		task.Cache.MaxAge = duration(t, opt["cache"])
		task.Join, task.When, task.Finally = opt["join"], opt["when"], opt["finally"] != ""
		if cases := opt["cases"]; cases != "" || opt["conditions"] != "" {
			task.Type, task.Spec = TypeSwitch, &SwitchSpec{Cases: casesOf(cases), Else: elseOf(opt)}
			if cases = opt["conditions"]; cases != "" {
				task.Type, task.Spec = TypeConditions, &ConditionsSpec{Cases: casesOf(cases), Else: elseOf(opt)}
			}
		}
		task.AllowFailure, task.Disabled = opt["allow_failure"] != "", opt["disabled"] != ""
		def.Tasks = append(def.Tasks, task)
		if opt["undo"] != "" {
			undone = append(undone, len(def.Tasks)-1)
		}
	}
	for _, i := range undone {
		def.Tasks = append(def.Tasks, undo(def, i))
	}
	return planOf(def)
}

// codes reads exit codes such as 75,1-3.
func codes(t *testing.T, text string) []CodeRange {
	t.Helper()
	var texts []document.Text
	for _, code := range names(text) {
		texts = append(texts, document.Text(code))
	}
	ranges, errs := codeRanges(nil, texts)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return ranges
}

// casesOf reads branches such as "x==1->a,b;y->c".
func casesOf(text string) []Case {
	var cases []Case
	for one := range strings.SplitSeq(text, ";") {
		when, then, _ := strings.Cut(one, "->")
		cases = append(cases, Case{When: when, Then: names(then)})
	}
	return cases
}

func elseOf(opt map[string]string) []string {
	if other, ok := opt["else"]; ok {
		return append([]string{}, names(other)...)
	}
	return nil
}

func names(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// options reads words of the form key=value, and key alone as key=yes.
func options(words []string) map[string]string {
	opt := map[string]string{}
	for _, w := range words {
		key, value, found := strings.Cut(w, "=")
		if !found {
			value = "yes"
		}
		opt[key] = value
	}
	return opt
}

func timeout(t *testing.T, text string) Timeout {
	after, action, _ := strings.Cut(text, ":")
	return Timeout{After: duration(t, after), Action: TimeoutAction(action)}
}

func duration(t *testing.T, text string) time.Duration {
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func token(task, number int) string { return fmt.Sprintf("token-%d-%d", task, number) }

// copyOf rebuilds an instance from what a store would have kept of it.
func copyOf(t interface{ Fatalf(string, ...any) }, plan *Plan, in *Instance) *Instance {
	rows := &Instance{
		ID: in.ID, State: in.State, Reason: in.Reason, Round: in.Round, Seq: in.Seq, OnFailure: in.OnFailure,
		DryRun: in.DryRun, Facts: in.Facts, Params: maps.Clone(in.Params), WorkerGroup: in.WorkerGroup, Priority: in.Priority,
		StartedAt: in.StartedAt, FinishedAt: in.FinishedAt, Deadline: in.Deadline, Limited: in.Limited,
		Tasks: append([]TaskInstance(nil), in.Tasks...),
	}
	var live []Attempt
	for i := range rows.Tasks {
		task := &rows.Tasks[i]
		if task.Attempt.Number != 0 {
			live = append(live, task.Attempt)
		}
		if task.Missed.Number != 0 { // a store gives all that were lost, also those that another has replaced
			live = append(live, task.Missed)
		}
		task.Attempt, task.Missed, task.needs = Attempt{}, Attempt{}, needs{}
	}
	if err := Restore(plan, rows, live); err != nil {
		t.Fatalf("restore: %v", err)
	}
	return rows
}
