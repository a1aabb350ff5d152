package main

import (
	"bufio"
	"flag"
	"os"
	"runtime"
	"strings"
	"testing"
)

var (
	seeds   = flag.Int("sim.seeds", ciSeeds, "how many worlds to run")
	shrinks = flag.Bool("sim.shrink", true, "shrink what fails")
	first   = flag.Uint64("sim.first", 1, "the first seed")
)

func testTemplate(t *testing.T) *template {
	t.Helper()
	made, err := newTemplate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.close)
	return made
}

// TestClustersKeepTheirRulesWhateverGoesWrong runs the seeds of every day; `make sim` runs more.
func TestClustersKeepTheirRulesWhateverGoesWrong(t *testing.T) {
	t.Parallel()
	v := survey(t.Context(), testTemplate(t), plan{first: *first, count: *seeds, jobs: runtime.GOMAXPROCS(0), shrink: *shrinks})
	for _, f := range v.Violations {
		t.Errorf("seed %d: %s: %s\n%s\nshrunk: %s", f.Seed, f.Rule, f.Text, f.Options, f.Shrunk)
	}
	t.Logf("%d seeds, %d events, %.1f virtual hours, %d attempts, %d faults %v", v.Seeds, v.Events, v.VirtualHours, v.Attempts, v.Faults, v.FaultsByClass)
	t.Logf("%d children, %d ends that start something, %d decisions, %d answers to wait for places", v.Children, v.Ends, v.Decisions, v.Queued)
	if v.Seeds < 100 {
		return
	}
	if v.Children == 0 || v.Ends == 0 || v.Decisions == 0 || v.Queued == 0 {
		t.Error("there is nothing of some of these")
	}
	for _, class := range faults {
		if v.FaultsByClass[class] == 0 && class != "watch_lags" && class != "clocks_differ" { // these two last for a whole world
			t.Errorf("no fault of the class %s happened in %d seeds: they test nothing of it", class, v.Seeds)
		}
	}
}

func TestOneSeedIsOneStory(t *testing.T) {
	t.Parallel()
	v := survey(t.Context(), testTemplate(t), plan{first: 1_000, count: max(2, *seeds/20), jobs: runtime.GOMAXPROCS(0), twice: true})
	for _, f := range v.Violations {
		t.Errorf("seed %d: %s: %s", f.Seed, f.Rule, f.Text)
	}
}

func TestWorldsThatFailedOnceDoNotFailAgain(t *testing.T) {
	t.Parallel()
	made := testTemplate(t)
	file, err := os.Open("regressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	worlds := 0
	for lines := bufio.NewScanner(file); lines.Scan() && worlds < ciWorlds; {
		text, why, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		worlds++
		opt, err := parseOptions(text)
		if err != nil {
			t.Fatal(err)
		}
		opt.template = made
		o, err := live(t.Context(), opt, false)
		if err != nil {
			t.Fatal(err)
		}
		if o.bad != nil {
			t.Errorf("%s\n%s (once: %s)", text, o.bad, strings.TrimSpace(why))
		}
	}
}

func TestOptionsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		want := draw(seed).String()
		got, err := parseOptions(want)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != want {
			t.Errorf("parseOptions(%q) = %q", want, got)
		}
	}
	for _, wrong := range []string{"", "masters=2", "seed=x", "seed=1 masters", "seed=1 faults=rain:1s", "seed=1 weather=1"} {
		if _, err := parseOptions(wrong); err == nil {
			t.Errorf("parseOptions(%q) is no error", wrong)
		}
	}
}

func TestWhatFailsIsShrunk(t *testing.T) {
	t.Parallel()
	opt := draw(7)
	for _, less := range smaller(opt) {
		if less.String() == opt.String() {
			t.Errorf("%s is no smaller than it was", less)
		}
	}
}
