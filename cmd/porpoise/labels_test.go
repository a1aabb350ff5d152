package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/porpoise/porpoise/dag"
)

func TestAWorkersLabelsAreReadFromItsFlags(t *testing.T) {
	t.Parallel()
	cfg := defaultWorker()
	flags := pflag.NewFlagSet("worker", pflag.ContinueOnError)
	register(flags, cfg)
	if err := flags.Parse([]string{"--label", "zone=eu", "--label", "disk=ssd,cores=8"}); err != nil {
		t.Fatal(err)
	}
	labels, wrong := labelsOf(cfg.Labels)
	if got := labels.String(); got != "cores=8,disk=ssd,zone=eu" || len(wrong) > 0 {
		t.Errorf("labels = %s, %v", got, wrong)
	}
}

func TestEveryWrongLabelOfAWorkerIsToldAtOnce(t *testing.T) {
	t.Parallel()
	cfg := defaultWorker()
	cfg.Labels = []string{"zone", "zone=", "disk=a/b", "=x", "a=1", "a=2"}
	for i := range dag.MaxLabels {
		cfg.Labels = append(cfg.Labels, fmt.Sprintf("l%d=x", i))
	}
	got := errors.Join(cfg.Check()...).Error()
	for _, want := range []string{
		"label: there are 38, at most 32 are allowed", `label: "zone" is not NAME=VALUE`, "label.zone: a name must not be empty",
		"label.disk: the character '/'", `label[""]: a name must not be empty`, `label: "a" has more than one value`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not among what is wrong:\n%s", want, got)
		}
	}
}
