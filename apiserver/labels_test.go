package apiserver

import (
	"slices"
	"strings"
	"testing"
)

// zones is a workflow whose tasks ask for labels of the default group, which has one worker, in zone eu.
const zones = `name: zones
tasks:
  - {name: here, type: shell, script: x, worker_labels: {zone: eu}}
  - {name: far, type: shell, script: x, worker_labels: {zone: us}}
  - {name: farther, type: shell, script: x, worker_labels: {zone: us}}
  - {name: gpu, type: shell, script: x, worker_group: gpu, worker_labels: {zone: us}}
  - {name: undone, type: shell, script: x, compensate: {type: shell, script: y, worker_labels: {disk: ssd}}}
  - {name: off, type: shell, script: x, disabled: true, worker_labels: {zone: moon}}
`

func TestATaskThatNobodyHasTheLabelsForIsExplained(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/zones", zones, "Content-Type", yamlType)
	id := decode[struct {
		InstanceID string `json:"instance_id"`
	}](t, b.must(202, "POST", "/api/v1/projects/alpha/workflows/zones/start", "{}")).InstanceID
	b.begin(id)
	for task, want := range map[string]string{
		"here": `no_free_slot zone=eu: it waits for a free slot among the 4 of group "default" with zone=eu`,
		"far":  `no_labelled_worker zone=us: no worker of group "default" has zone=us`,
		"gpu":  `no_worker zone=us: no worker of group "gpu" is alive`,
	} {
		var got []string
		for _, c := range decode[Explanation](t, b.must(200, "GET", "/api/v1/instances/"+id+"/explain?task="+task, "")).Causes {
			if c.Args["worker_group"] != "" {
				got = append(got, c.Code+" "+c.Args["labels"]+": "+c.Text)
			}
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s is explained by %q, want %q", task, got, want)
		}
	}
	whole := b.must(200, "GET", "/api/v1/instances/"+id+"/explain", "").Body.String()
	if n := strings.Count(whole, `"no_labelled_worker"`); n != 1 {
		t.Errorf("the instance is told %d times of the same labels: %s", n, whole)
	}
}

func TestValidateWarnsOfLabelsThatNobodyHas(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(201, "PUT", "/api/v1/projects/alpha", "")
	var got []string
	for _, w := range decode[Findings](t, b.must(200, "POST", "/api/v1/validate?project=alpha", zones, "Content-Type", yamlType)).Warnings {
		got = append(got, w.Field+" "+w.Code)
	}
	want := []string{
		"tasks[1].worker_labels no_labelled_worker", "tasks[3].worker_group no_worker",
		"tasks[4].compensate.worker_labels no_labelled_worker",
	}
	if !slices.Equal(got, want) {
		t.Errorf("warned of %q, want %q", got, want)
	}
}
