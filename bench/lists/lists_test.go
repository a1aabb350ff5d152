package main

import (
	"context"
	"os"
	"strings"
	"testing"
)

func TestListsShowWhatWasFilledIn(t *testing.T) {
	t.Parallel()
	shown := func(d database, n int) map[string]int {
		r, err := measure(t.Context(), d, n, 1)
		if err != nil {
			t.Fatal(err)
		}
		if text := markdown(r, r); strings.Count(text, "\n") < len(r.lists)+4 || !strings.Contains(text, r.database) {
			t.Errorf("the table:\n%s", text)
		}
		out := map[string]int{}
		for _, l := range r.lists {
			out[l.what] = l.shown
			// How many is not looked at: other tests read on the same server.
			if _, counts := d.(*server); counts != (l.examined != "-") {
				t.Errorf("%s: %q rows examined", l.what, l.examined)
			}
		}
		return out
	}
	databases := map[string]database{"SQLite": newFile(t.TempDir(), 6000)}
	if address := os.Getenv("PORPOISE_TEST_MYSQL"); address != "" {
		databases["MySQL"] = newServer(address, 6000)
	}
	for name, d := range databases {
		got := shown(d, 6000)
		for what, want := range map[string]int{
			"newest first": pageRows, "of a workflow": pageRows, "failed": pageRows, "failed, of a project": 12,
			"running (there are none)": 0, "created in the older half": pageRows, "counts by state": 3,
		} {
			if got[what] != want {
				t.Errorf("%s: %q shows %d, want %d", name, what, got[what], want)
			}
		}
	}
}

func TestOptionsThatMakeNoTableAreRefused(t *testing.T) {
	t.Parallel()
	for _, o := range []options{{few: 1, many: 1000, repeats: 1}, {few: 1000, many: 1, repeats: 1}, {few: 1000, many: 1000}} {
		if err := run(context.Background(), o, ""); err == nil {
			t.Errorf("run with %+v: no error", o)
		}
	}
}
