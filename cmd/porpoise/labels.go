package main

import (
	"fmt"
	"strings"

	"github.com/porpoise/porpoise/dag"
)

// labelsOf reads a worker's labels, each NAME=VALUE, with all that is wrong in them.
func labelsOf(pairs []string) (dag.Labels, []error) {
	const key = "label"
	labels := make(dag.Labels, len(pairs))
	var wrong []error
	if len(pairs) > dag.MaxLabels {
		wrong = append(wrong, fmt.Errorf("%s: there are %d, at most %d are allowed", key, len(pairs), dag.MaxLabels))
	}
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			wrong = append(wrong, fmt.Errorf("%s: %q is not NAME=VALUE", key, pair))
			continue
		}
		if _, twice := labels[name]; twice {
			wrong = append(wrong, fmt.Errorf("%s: %q has more than one value", key, name))
		}
		for _, err := range dag.CheckLabel(key, name, value) {
			wrong = append(wrong, err)
		}
		labels[name] = value
	}
	return labels, wrong
}
