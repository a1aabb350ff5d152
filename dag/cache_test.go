package dag

import (
	"maps"
	"strings"
	"testing"
	"time"
)

// cachedTask is a workflow whose last task has the cache.
func cachedTask(t *testing.T, lines string) *Plan {
	return mustPlan(t, "name: w\nparams: {day: '1', other: x}\ntasks:\n  - {name: before, type: shell, script: x, outputs: [rows]}\n"+
		"  - name: a\n    type: shell\n    needs: [before]\n    outputs: [n]\n"+lines)
}

// cacheKeyOf is the key of the task a, of an instance that change is made to.
func cacheKeyOf(plan *Plan, change func(in *Instance)) string {
	in := instanceOf(plan, map[string]string{})
	in.Facts = Facts{Project: "p", Workflow: "w", WorkflowID: 5, Now: 1_000_000, ProjectParams: map[string]string{"of_project": "1"}}
	in.Tasks[0] = TaskInstance{State: TaskSuccess, Outputs: map[string]string{"rows": "3"}}
	if change != nil {
		change(in)
	}
	return in.CacheKey(1)
}

const plainCache = "    script: echo ${day}\n    cache: {max_age: 1d}\n"

func TestACacheKeyChangesWithAllThatTheTaskIsAndSees(t *testing.T) {
	t.Parallel()
	key := cacheKeyOf(cachedTask(t, plainCache), nil)
	if len(key) != 64 {
		t.Fatalf("the key is %q", key)
	}
	for what, change := range map[string]func(in *Instance){
		"a start parameter":          func(in *Instance) { in.Params["day"] = "2" },
		"a parameter not named":      func(in *Instance) { in.Params["other"] = "y" },
		"an output of before":        func(in *Instance) { in.Tasks[0].Outputs = map[string]string{"rows": "4"} },
		"a parameter of the project": func(in *Instance) { in.Facts.ProjectParams = map[string]string{"of_project": "2"} },
		"the workflow":               func(in *Instance) { in.Facts.WorkflowID = 6 },
	} {
		if got := cacheKeyOf(cachedTask(t, plainCache), change); got == key || got == "" {
			t.Errorf("%s is another one, and the key is %q still", what, got)
		}
	}
	for what, lines := range map[string]string{
		"script":      strings.Replace(plainCache, "echo", "printf", 1),
		"interpreter": plainCache + "    interpreter: bash\n",
		"params":      plainCache + "    params: {mine: 1}\n",
		"env":         plainCache + "    env: {LANG: C}\n",
		"secrets":     plainCache + "    env: {DB: '${secret.db}'}\n",
		"working_dir": plainCache + "    working_dir: /tmp\n",
	} {
		if got := cacheKeyOf(cachedTask(t, lines), nil); got == key || got == "" {
			t.Errorf("its %s is another one, and the key is %q still", what, got)
		}
	}
}

func TestACacheKeyIsTheSameInEveryInstance(t *testing.T) {
	t.Parallel()
	for lines, differs := range map[string]bool{
		plainCache: false,
		plainCache + "    retry: {times: 3}\n    priority: high\n":                                              false,
		strings.Replace(plainCache, "${day}", "$system_biz_date", 1):                                            true,
		strings.Replace(plainCache, "{max", "{key: 'v1 ${day} ${rows}', max", 1):                                false,
		strings.Replace(plainCache, "{max", "{key: '$[yyyyMMdd-1]', max", 1):                                    true,
		strings.Replace(plainCache, "{max", "{key: '${system.biz.date}', max", 1):                               true,
		strings.Replace(plainCache, "{max", "{key: '${day}', max", 1) + "    env: {AT: '${system.datetime}'}\n": false,
	} {
		key := cacheKeyOf(cachedTask(t, lines), nil)
		later := cacheKeyOf(cachedTask(t, lines), func(in *Instance) {
			in.ID, in.Priority, in.WorkerGroup, in.Facts.Version = 99, PriorityLow, "big", 8
			in.Facts.Now = in.Facts.Now.Add(48 * time.Hour)
		})
		if key == "" || (key != later) != differs {
			t.Errorf("of\n%sthe keys are %q and %q", lines, key, later)
		}
	}
}

func TestAKeyOfOnesOwnCountsAlone(t *testing.T) {
	t.Parallel()
	lines := strings.Replace(plainCache, "{max", "{key: 'for ${day}', max", 1)
	key := cacheKeyOf(cachedTask(t, lines), nil)
	if got := cacheKeyOf(cachedTask(t, strings.Replace(lines, "echo", "printf", 1)), func(in *Instance) { in.Params["other"] = "y" }); got != key {
		t.Errorf("the key is %q, and %q with another script", key, got)
	}
	if got := cacheKeyOf(cachedTask(t, lines), func(in *Instance) { in.Params["day"] = "2" }); got == key {
		t.Error("another day has the same key")
	}
	if got := cacheKeyOf(cachedTask(t, strings.Replace(lines, "max_age: 1d", "max_age: 2d", 1)), nil); got != key {
		t.Error("max_age belongs to the key")
	}
	outputs := mustPlan(t, "name: w\nparams: {day: '1', other: x}\ntasks:\n  - {name: before, type: shell, script: x, outputs: [rows]}\n"+
		"  - name: a\n    type: shell\n    needs: [before]\n    outputs: [m]\n"+lines)
	if got := cacheKeyOf(outputs, nil); got == key {
		t.Error("what was kept of other outputs has the same key")
	}
}

func TestNothingIsKeptWithoutAKey(t *testing.T) {
	t.Parallel()
	missing := cachedTask(t, strings.Replace(plainCache, "{max", "{key: '${before.rows}', max", 1))
	none := func(in *Instance) { in.Tasks[0].Outputs = nil }
	for what, key := range map[string]string{
		"a dry run":          cacheKeyOf(cachedTask(t, plainCache), func(in *Instance) { in.DryRun = true }),
		"no cache":           cacheKeyOf(cachedTask(t, "    script: x\n"), nil),
		"a value is missing": cacheKeyOf(missing, none),
		"no environment":     cacheKeyOf(cachedTask(t, plainCache+"    environment: gone\n"), nil),
	} {
		if key != "" {
			t.Errorf("%s: the key is %q", what, key)
		}
	}
}

func TestTheValueOfASecretIsNoPartOfAKey(t *testing.T) {
	t.Parallel()
	plan := cachedTask(t, plainCache+"    env: {DB: '${secret.db}'}\n")
	key := cacheKeyOf(plan, nil)
	if got := cacheKeyOf(plan, func(in *Instance) { in.Facts.Secrets = map[string]string{"db": "hunter2"} }); got != key || key == "" {
		t.Errorf("the key is %q, and %q with a value of the secret", key, got)
	}
}

// TestNoTwoListsHashAlike: a text may hold what stands between two.
func TestNoTwoListsHashAlike(t *testing.T) {
	t.Parallel()
	keys := map[string]string{}
	for what, params := range map[string]map[string]string{
		"one": {"day": "1 5:other"}, "two": {"day": "1", "other": "1:x"}, "three": {"day": "1 5:other 1:x"}, "none": {"day": ""},
	} {
		key := cacheKeyOf(cachedTask(t, plainCache), func(in *Instance) { in.Params = maps.Clone(params) })
		if other, taken := keys[key]; taken {
			t.Errorf("%s and %s have one key", what, other)
		}
		keys[key] = what
	}
}
