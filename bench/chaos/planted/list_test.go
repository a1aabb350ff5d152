package main

import (
	"testing"

	"github.com/porpoise/porpoise/bench/site"
)

// A change that moves a planted text must move the bug, too: found here in a moment, and not
// when somebody runs them all.
func TestEveryPlantedTextStandsOnceInItsFile(t *testing.T) {
	t.Parallel()
	root, err := site.Root()
	if err != nil {
		t.Fatal(err)
	}
	p := &planter{root: root}
	for _, b := range bugs() {
		if _, err := p.plant(t.TempDir(), b); err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
	}
}
