package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
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
			if _, counts := d.(*server); counts != (l.examined >= 0) {
				t.Errorf("%s: %s rows examined", l.what, l.rows())
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

func TestAListThatGrowsWithItsStoreIsNamed(t *testing.T) {
	t.Parallel()
	few := results{lists: []result{{what: "page", examined: 100, p50: time.Millisecond}, {what: "counts", examined: 10, p50: time.Millisecond}}}
	many := results{database: "MariaDB", instances: 1_000_000, lists: []result{
		{what: "page", examined: 650, p50: 2500 * time.Microsecond}, {what: "counts", examined: 30_000, p50: 10 * time.Millisecond, bound: counted},
	}}
	if err := judge(few, many); err != nil {
		t.Errorf("lists at their bars are named: %v", err)
	}
	for _, grow := range []func(r *result){func(r *result) { r.examined = 651 }, func(r *result) { r.p50 = 3 * time.Millisecond }} {
		worse := many
		worse.lists = slices.Clone(many.lists)
		grow(&worse.lists[0])
		if err := judge(few, worse); err == nil || !strings.Contains(err.Error(), "MariaDB: page") {
			t.Errorf("of a list that reads %+v: %v", worse.lists[0], err)
		}
	}
}
