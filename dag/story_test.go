package dag

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata and generated pages")

// TestStories plays every story: blocks of a command, a line "----" and what came of it.
func TestStories(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 25 {
		t.Fatalf("found %d stories, error %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := tell(t, string(text))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(text) {
				t.Errorf("%s reads differently; go test ./dag -run TestStories -update, then git diff\n%s", file, firstDiff(string(text), got))
			}
		})
	}
}

func firstDiff(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := 0; i < len(w) && i < len(g); i++ {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d\nwant: %s\ngot:  %s", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("want %d lines, got %d", len(w), len(g))
}

// tell plays a story and returns it with what really came.
func tell(t *testing.T, text string) string {
	s := &story{t: t, now: storyStart, timers: map[Timer]Millis{}}
	var out strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(block, "#") {
			fmt.Fprintf(&out, "%s\n\n", block)
			continue
		}
		command, _, _ := strings.Cut(block, "\n----")
		s.out.Reset()
		lines := strings.Split(command, "\n")
		s.command(strings.Fields(lines[0]), lines[1:])
		fmt.Fprintf(&out, "%s\n----\n%s\n", command, s.out.String())
	}
	return strings.TrimSpace(out.String()) + "\n"
}

// story is one instance, its clock, and the timers that are armed.
type story struct {
	t      *testing.T
	out    strings.Builder
	plan   *Plan
	in     *Instance
	now    Millis
	timers map[Timer]Millis
	wishes int64

	children int64 // made so far
	cached   []CacheEntry
}

func (s *story) command(words, more []string) {
	arg := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	opt := options(words)
	switch verb := words[0]; verb {
	case "plan":
		s.plan = parsePlan(s.t, words[1:], more)
		fmt.Fprintf(&s.out, "%d tasks\n", len(s.plan.Order))
		s.in = NewInstance(s.plan, 1, StartOptions{})
	case "new":
		s.in = NewInstance(s.plan, 1, StartOptions{
			StartTasks: s.tasks(opt["tasks"]), Scope: Scope(opt["scope"]), DryRun: opt["dry_run"] != "", OnFailure: OnFailure(opt["on_failure"]),
		})
	case "begin":
		s.step(Begin{})
	case "assign":
		i := s.index(arg(1))
		n := s.in.Tasks[i].Attempts + 1
		s.step(Assign{Task: i, Worker: arg(2), Incarnation: "1", Token: token(i, n)})
	case "running", "success", "failed", "killed", "returned":
		i, n := s.attempt(arg(1), opt)
		code, _ := strconv.Atoi(opt["code"])
		r := Report{Task: i, Number: n, Token: token(i, n), State: AttemptState(verb), Reason: Reason(opt["reason"]), ExitCode: code, FinishedAt: s.now}
		if opt["out"] != "" {
			r.Outputs = map[string]string{"out": opt["out"]}
		}
		if opt["token"] != "" {
			r.Token = opt["token"]
		}
		s.step(r)
	case "launch":
		s.launch(s.index(arg(1)), opt)
	case "recall":
		s.recall(s.index(arg(1)), opt)
	case "decided":
		i, n := s.attempt(arg(1), opt)
		s.step(Decided{Task: i, Number: n, Success: arg(2) == "success", Message: "it says so", Outputs: map[string]string{"out": opt["out"]}})
	case "child":
		i, n := s.attempt(arg(1), opt)
		child := s.in.Tasks[i].Child
		if k, err := strconv.Atoi(opt["item"]); err == nil {
			child = s.in.Tasks[i].Items[k].Child
		}
		ev := ChildEnded{Task: i, Number: n, Child: child, State: InstanceState(arg(2)), Message: "it says so"}
		if opt["out"] != "" {
			ev.Outputs = map[string]string{"out": opt["out"]}
		}
		s.step(ev)
	case "again":
		i := s.index(arg(1))
		child, _ := strconv.ParseInt(opt["child"], 10, 64)
		s.wishes++
		s.step(ChildAgain{ID: s.wishes, Task: i, Child: child, By: "instance 101"})
	case "limited":
		s.in.Limited = true
	case "lost":
		i, n := s.attempt(arg(1), opt)
		s.step(Lost{Task: i, Number: n, Token: token(i, n)})
	case "wait":
		s.wait(duration(s.t, arg(1)))
	case "fire":
		kind := map[string]TimerKind{
			"retry": TimerRetry, "wait": TimerWait, "timeout": TimerAttempt, "workflow": TimerInstance, "overdue": TimerStop, "delay": TimerDelay, "queue": TimerQueue,
		}[arg(1)]
		if arg(2) == "" {
			s.step(Timer{Kind: kind, Task: -1})
			return
		}
		i, n := s.attempt(arg(2), opt)
		s.step(Timer{Kind: kind, Task: i, Number: n})
	case "pause", "resume", "stop", "kill", "skip", "force_success", "recover", "rerun":
		s.wishes++
		c := Control{ID: s.wishes, Verb: Verb(verb), By: "ann", Scope: Scope(opt["scope"]), Force: opt["force"] != ""}
		if arg(1) != "" && !strings.Contains(arg(1), "=") {
			c.Tasks = s.tasks(arg(1))
		}
		s.step(c)
	case "approve", "reject":
		i, n := s.attempt(arg(1), opt)
		s.wishes++
		d := Decision{Number: n, Reason: opt["reason"]}
		if opt["out"] != "" {
			d.Values = map[string]string{"out": opt["out"]}
		}
		s.step(Control{ID: s.wishes, Verb: Verb(verb), By: opt["by"], Tasks: []int{i}, Decision: d})
	case "show":
		s.show()
	case "explain":
		i := -1
		if arg(1) != "" {
			i = s.index(arg(1))
		}
		s.explain(s.in.Explain(s.now, i), "")
	case "crash":
		s.in = copyOf(s.t, s.plan, s.in)
		clear(s.timers)
		s.act(s.in.Pending(s.now))
	default:
		s.t.Fatalf("no command %q", verb)
	}
}

func (s *story) step(ev Input) {
	fx := s.in.Step(ev, s.now)
	if fx.Stale {
		s.out.WriteString("stale\n")
	}
	for _, c := range fx.Children {
		fmt.Fprintf(&s.out, "+ child %d of %s\n", c.ID, s.name(c.Task, c.Number))
	}
	for _, o := range fx.Orders {
		fmt.Fprintf(&s.out, "+ %s child %d%s%s\n", cmp.Or(string(o.Verb), "await"), o.Child, map[bool]string{true: " by force"}[o.Force], map[bool]string{true: fmt.Sprintf(" for attempt %d", o.Number)}[o.Number > 0])
	}
	for _, c := range fx.Cached {
		s.cached = append(s.cached, c)
		fmt.Fprintf(&s.out, "+ keep what %s gave until %s\n", s.name(c.Task, c.Number), clock(c.Until))
	}
	for _, a := range fx.Applied {
		fmt.Fprintf(&s.out, "= %s\n", a.Result)
	}
	for _, e := range fx.Events {
		fmt.Fprintf(&s.out, "%d %s\n", e.Seq, s.event(e))
	}
	s.act(fx.Actions)
}

// launch starts a sub_workflow task as the engine would: with the child of before where that is to be
// recovered, with a new one otherwise.
func (s *story) launch(i int, opt map[string]string) {
	ev := Launch{Task: i, Reason: Reason(opt["refused"])}
	if items, err := strconv.Atoi(opt["items"]); err == nil {
		ev.Child, ev.Each = &Child{ID: 101 + s.children}, make([]map[string]string, items)
		s.children += int64(max(items, len(s.in.Tasks[i].Items)))
	} else if ev.Reason == "" && !s.in.Recovers(i) {
		s.children++
		ev.Child = &Child{ID: 100 + s.children}
	}
	s.step(ev)
}

// recall gives a task what was kept for it last, or an entry of another key or moment.
func (s *story) recall(i int, opt map[string]string) {
	entry := CacheEntry{Key: s.in.CacheKey(i), Instance: 77, Outputs: map[string]string{"out": "old"}, At: s.now - Millis(duration(s.t, opt["age"]).Milliseconds()), Until: s.now + 1}
	if opt["key"] != "" {
		entry.Key = opt["key"]
	}
	if opt["until"] != "" {
		entry.Until = s.now
	}
	if opt["last"] != "" {
		entry = s.cached[len(s.cached)-1]
	}
	s.step(Recall{Task: i, Entry: entry})
}

func (s *story) event(e Event) string {
	text := "instance"
	if e.Task >= 0 {
		text = s.name(e.Task, e.Attempt)
	}
	if e.Code != EventInstance && e.Code != EventTask {
		text += " " + string(e.Code)
	}
	for _, part := range []struct{ before, text string }{{"", e.State}, {"reason ", string(e.Reason)}, {"by ", e.By}} {
		if part.text != "" {
			text += " " + part.before + part.text
		}
	}
	if e.Reason == ReasonCached {
		text += ": " + e.Message
	}
	if e.Warning {
		text += " !"
	}
	return text
}

// act prints actions and does what concerns timers.
func (s *story) act(actions []Action) {
	kinds := map[TimerKind]string{TimerRetry: "retry", TimerWait: "wait", TimerAttempt: "timeout", TimerInstance: "workflow", TimerStop: "overdue", TimerDelay: "delay", TimerQueue: "queue"}
	for _, a := range actions {
		switch a := a.(type) {
		case Enqueue:
			fmt.Fprintf(&s.out, "> enqueue %s\n", s.name(a.Task, 0))
		case Dequeue:
			fmt.Fprintf(&s.out, "> dequeue %s\n", s.name(a.Task, 0))
		case Dispatch:
			fmt.Fprintf(&s.out, "> dispatch %s to %s\n", s.name(a.Attempt.Task, a.Attempt.Number), a.Attempt.Worker)
		case Kill:
			fmt.Fprintf(&s.out, "> kill %s on %s: %s\n", s.name(a.Attempt.Task, a.Attempt.Number), a.Attempt.Worker, a.Attempt.KillReason)
		case Arm:
			s.timers[a.Timer] = a.At
			fmt.Fprintf(&s.out, "> arm %s %s at %s\n", kinds[a.Timer.Kind], s.name(a.Timer.Task, a.Timer.Number), clock(a.At))
		case Disarm:
			delete(s.timers, a.Timer)
			fmt.Fprintf(&s.out, "> disarm %s %s\n", kinds[a.Timer.Kind], s.name(a.Timer.Task, a.Timer.Number))
		case Finish:
			s.out.WriteString("> finish\n")
		case Rest:
			s.out.WriteString("> rest\n")
		}
	}
}

// wait lets time pass and fires what falls due, in order.
func (s *story) wait(d time.Duration) {
	end := s.now.Add(d)
	for {
		var due []Timer
		for timer, at := range s.timers {
			if at <= end {
				due = append(due, timer)
			}
		}
		if len(due) == 0 {
			break
		}
		first := slices.MinFunc(due, func(a, b Timer) int {
			if s.timers[a] != s.timers[b] {
				return int(s.timers[a] - s.timers[b])
			}
			return (int(a.Kind)-int(b.Kind))*1000 + a.Task - b.Task
		})
		s.now = max(s.now, s.timers[first])
		delete(s.timers, first)
		fmt.Fprintf(&s.out, "at %s\n", clock(s.now))
		s.step(first)
	}
	s.now = end
}

func (s *story) show() {
	fmt.Fprintf(&s.out, "%s\n", strings.TrimSpace(fmt.Sprintf("instance %s %s round=%d", s.in.State, s.in.Reason, s.in.Round)))
	for i, t := range s.in.Tasks {
		if t.State == "" {
			fmt.Fprintf(&s.out, "%s is not in scope\n", s.name(i, 0))
			continue
		}
		fmt.Fprintf(&s.out, "%s %s", s.name(i, 0), t.State)
		if t.Reason != "" {
			fmt.Fprintf(&s.out, " (%s)", t.Reason)
		}
		if t.Iteration > 0 {
			fmt.Fprintf(&s.out, " iteration=%d", t.Iteration)
		}
		fmt.Fprintf(&s.out, " attempts=%d retries=%d lost=%d", t.Attempts, t.Retries, t.Lost)
		if len(t.Items) > 0 {
			fmt.Fprintf(&s.out, " items=%+v", t.progress())
		}
		if len(t.Outputs) > 0 {
			fmt.Fprintf(&s.out, " out=%s", t.Outputs["out"])
		}
		s.out.WriteString("\n")
	}
}

func (s *story) explain(e Explanation, indent string) {
	fmt.Fprintf(&s.out, "%s%s: %s", indent, e.Code, e.Text)
	if e.Since != 0 {
		fmt.Fprintf(&s.out, " [since %s]", clock(e.Since))
	}
	s.out.WriteString("\n")
	for _, c := range e.Causes {
		s.explain(c, indent+"  ")
	}
}

func (s *story) attempt(name string, opt map[string]string) (task, number int) {
	task = s.index(name)
	number = s.in.Tasks[task].Attempts
	if opt["n"] != "" {
		number, _ = strconv.Atoi(opt["n"])
	}
	return task, number
}

func (s *story) name(i, number int) string {
	if i < 0 {
		return "instance"
	}
	if number == 0 {
		return s.plan.Definition.Tasks[i].Name
	}
	return fmt.Sprintf("%s/%d", s.plan.Definition.Tasks[i].Name, number)
}

func (s *story) index(name string) int {
	i, ok := s.plan.Task(name)
	if !ok {
		s.t.Fatalf("no task %q", name)
	}
	return i
}

func (s *story) tasks(names string) (list []int) {
	for name := range strings.SplitSeq(names, ",") {
		if name != "" {
			list = append(list, s.index(name))
		}
	}
	return list
}

// clock writes a moment as the time since the story began.
func clock(m Millis) string { return m.Sub(storyStart).String() }
