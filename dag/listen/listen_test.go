package listen_test

import (
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/listen"
)

func fact(e dag.Event, task string) *listen.Fact {
	return &listen.Fact{Event: e, Kind: listen.KindOf(&e), Workflow: "Daily", Schedule: "Nightly", TaskName: task}
}

func TestEventsHaveTheirKind(t *testing.T) {
	t.Parallel()
	submitted := listen.SubmittedEvent(1, "ann")
	if got := listen.KindOf(&submitted); got != listen.Submitted {
		t.Errorf("the first event is %s", got)
	}
	if submitted.Task != -1 || submitted.Seq != 0 || submitted.By != "ann" {
		t.Errorf("the first event is %+v, want it to be the instance's own, before all others", submitted)
	}
	for _, c := range []struct {
		code  dag.EventCode
		state string
		want  listen.Kind
	}{
		{dag.EventInstance, "running", listen.Started},
		{dag.EventInstance, "paused", listen.InstanceState},
		{dag.EventInstance, "success", listen.Ended},
		{dag.EventInstance, "stopped", listen.Ended},
		{dag.EventTask, "running", listen.TaskState},
		{dag.EventTask, "retry_wait", listen.TaskState},
		{dag.EventTask, "skipped", listen.TaskEnded},
		{dag.EventTask, "failed", listen.TaskEnded},
		{dag.EventTaskTimeout, "", listen.TaskTimeout},
		{dag.EventWorkflowTimeout, "", listen.WorkflowTimeout},
		{dag.EventApproved, "", listen.Approved},
		{dag.EventRejected, "", listen.Rejected},
		{dag.EventPauseOverdue, "", listen.PauseOverdue},
		{dag.EventStopOverdue, "", listen.StopOverdue},
	} {
		if got := listen.KindOf(&dag.Event{Code: c.code, State: c.state}); got != c.want {
			t.Errorf("%s %s is %s, want %s", c.code, c.state, got, c.want)
		}
	}
}

func TestAFilterPicksWhatFitsAllItsParts(t *testing.T) {
	t.Parallel()
	failed := fact(dag.Event{Code: dag.EventTask, State: "failed", Reason: dag.ReasonTimeout, Attempt: 3, Round: 1}, "load")
	for _, c := range []struct {
		filter listen.Filter
		want   bool
	}{
		{listen.Filter{}, true},
		{listen.Filter{Events: []listen.Kind{listen.Ended, listen.TaskEnded}}, true},
		{listen.Filter{Events: []listen.Kind{listen.Ended}}, false},
		{listen.Filter{Workflows: []string{"DAILY"}}, true},
		{listen.Filter{Workflows: []string{"weekly"}}, false},
		{listen.Filter{Schedules: []string{"hourly", "NIGHTLY"}}, true},
		{listen.Filter{Schedules: []string{"hourly"}}, false},
		{listen.Filter{Tasks: []string{"load"}, Reasons: []dag.Reason{dag.ReasonTimeout}}, true},
		{listen.Filter{Tasks: []string{"load"}, Reasons: []dag.Reason{dag.ReasonExitCode}}, false},
		{listen.Filter{Tasks: []string{"extract"}}, false},
		{listen.Filter{States: []string{"failed"}}, true},
		{listen.Filter{States: []string{"success"}}, false},
		{listen.Filter{When: "attempt >= 3 && reason == 'timeout'"}, true},
		{listen.Filter{When: "attempt > 3 || warning"}, false},
		{listen.Filter{When: "event == 'task_ended' && task == 'load' && workflow == 'Daily'"}, true},
	} {
		if wrong := c.filter.Check("filter"); len(wrong) > 0 {
			t.Errorf("%+v: %+v", c.filter, wrong)
		}
		if got := c.filter.Wants(failed); got != c.want {
			t.Errorf("%+v: %v, want %v", c.filter, got, c.want)
		}
	}
	onTask := listen.Filter{Tasks: []string{"load"}}
	if onTask.Wants(fact(dag.Event{Code: dag.EventInstance, Task: -1, State: "failed"}, "")) {
		t.Error("a filter of a task picks an event of the instance")
	}
}

// Rather one event too many than one that nobody hears of.
func TestWhatCannotBeDecidedIsHeard(t *testing.T) {
	t.Parallel()
	f := listen.Filter{When: "message > 3"}
	if wrong := f.Check("filter"); len(wrong) > 0 {
		t.Fatalf("%+v", wrong)
	}
	for message, want := range map[string]bool{"5": true, "2": false, "the disk is full": true} {
		if got := f.Wants(fact(dag.Event{Code: dag.EventTask, State: "failed", Message: message}, "load")); got != want {
			t.Errorf("an event with the message %q: %v, want %v", message, got, want)
		}
	}
}

func TestABadFilterNamesAllThatIsWrong(t *testing.T) {
	t.Parallel()
	long := make([]string, 101)
	for i := range long {
		long[i] = "load"
	}
	f := listen.Filter{Events: []listen.Kind{"ended", "lunch"}, Workflows: []string{""}, Tasks: long, States: []string{"tired"}, When: "colour == 'red'"}
	want := map[string]bool{"filter.events[1]": true, "filter.workflows[0]": true, "filter.tasks": true, "filter.states[0]": true, "filter.when": true}
	wrong := f.Check("filter")
	for _, w := range wrong {
		if !want[w.Field] || w.Message == "" {
			t.Errorf("unexpected: %+v", w)
		}
	}
	if len(wrong) != len(want) {
		t.Errorf("%d are wrong, want %d: %+v", len(wrong), len(want), wrong)
	}
	for _, when := range []string{"1 + 1", "task.load.state == 'failed'", "state ==", "'text'"} {
		f := listen.Filter{When: when}
		if len(f.Check("")) != 1 {
			t.Errorf("%q is taken", when)
		}
	}
}

func FuzzFilter(f *testing.F) {
	f.Add("attempt > 1")
	f.Add("task == 'load' && state in ['failed']")
	f.Fuzz(func(t *testing.T, when string) {
		filter := listen.Filter{When: when}
		if len(filter.Check("filter")) == 0 {
			filter.Wants(fact(dag.Event{Code: dag.EventTask, State: "failed"}, "load"))
		}
	})
}
