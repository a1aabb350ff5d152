package dag

import (
	"fmt"
	"testing"
)

// decisions are how many tasks of one instance decide something in these benchmarks.
const decisions = 2_000

// deciding returns a plan of a first task with outputs, and of tasks that decide by them: side by side, or each
// below the one before, where the last one has thousands of ancestors.
func deciding(deep bool, decide func(t *Task, name string)) *Plan {
	def := &Definition{Name: "deciding", Tasks: []Task{{Name: "first", Type: "shell", Outputs: []string{"rows", "region"}}}}
	above := "first"
	for i := range decisions {
		task := Task{Name: fmt.Sprint("d", i), Needs: []string{"first"}}
		if deep && i > 0 {
			task.Needs = []string{"first", above}
		}
		next := Task{Name: fmt.Sprint("n", i), Type: "noop", Needs: []string{task.Name}}
		decide(&task, next.Name)
		def.Tasks, above = append(def.Tasks, task, next), task.Name
	}
	return planOf(def)
}

// BenchmarkDecide is one decision of an instance that has thousands of them; the bar is a millisecond for each.
func BenchmarkDecide(b *testing.B) {
	cases := func(next string) []Case { // all but the last are looked at in vain
		list := make([]Case, 100)
		for k := range list {
			list[k] = Case{When: fmt.Sprintf("first.rows > %d && first.region in ['eu', 'us']", 1_000_000-k), Then: []string{next}}
		}
		list[99].When = "first.rows > 5"
		return list
	}
	for _, kind := range []struct {
		name   string
		decide func(t *Task, next string)
	}{
		{"when", func(t *Task, next string) {
			t.When = "rows > 5 && region matches '^e'"
			t.Type, t.Spec = TypeSwitch, &SwitchSpec{Cases: []Case{{When: "true", Then: []string{next}}}}
		}},
		{"switch of 100", func(t *Task, next string) { t.Type, t.Spec = TypeSwitch, &SwitchSpec{Cases: cases(next)} }},
		{"conditions", func(t *Task, next string) {
			t.Type, t.Spec = TypeConditions, &ConditionsSpec{Cases: []Case{{When: "first.state == 'success'", Then: []string{next}}}}
		}},
	} {
		for _, deep := range []bool{false, true} {
			name := kind.name + " side by side"
			if deep {
				name = kind.name + " in a chain"
			}
			b.Run(name, func(b *testing.B) {
				plan := deciding(deep, kind.decide)
				for b.Loop() {
					b.StopTimer()
					in := NewInstance(plan, 1, StartOptions{})
					in.Step(Begin{}, storyStart)
					in.Step(Assign{Task: 0, Worker: "w", Token: "t"}, storyStart)
					b.StartTimer()
					in.Step(Report{Task: 0, Number: 1, Token: "t", State: AttemptSuccess, Outputs: map[string]string{"rows": "7", "region": "eu"}}, storyStart)
					if last := in.Tasks[len(in.Tasks)-2]; last.State != TaskSuccess {
						b.Fatalf("the last of those that decide is %s (%s)", last.State, last.Reason)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/decisions, "ns/decision")
			})
		}
	}
}
