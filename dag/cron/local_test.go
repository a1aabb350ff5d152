package cron_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag/cron"
	"github.com/porpoise/porpoise/dag/moment"
)

// inChild says that this process is the one with another timezone of its own.
const inChild = "PORPOISE_TEST_LOCAL"

// The timezone of the process is nobody's: without one an expression is about UTC, wherever the process runs.
func TestTheTimezoneOfTheProcessCountsForNothing(t *testing.T) {
	fires := func() string {
		var out []string
		for _, name := range []string{"", "UTC", "Europe/Berlin"} {
			loc, err := moment.Location(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"30 2 * * *", "0 0 9 ? * MON", "@daily", "@every 90m", "*/20 22 1 * *"} {
				e := parse(t, text, cron.Auto)
				for _, f := range e.Fires(time.Unix(1_774_742_400, 0), loc, 4) {
					out = append(out, fmt.Sprint(text, " ", name, " ", f.At.Unix(), " ", f.At.Format(time.RFC3339), " ", f.Mark))
				}
				out = append(out, e.Words(cron.English))
			}
		}
		return strings.Join(out, "\n")
	}
	if os.Getenv(inChild) != "" {
		fmt.Println("<<" + time.Now().Format("MST") + "\n" + fires() + ">>")
		return
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTheTimezoneOfTheProcessCountsForNothing$")
	child.Env = append(os.Environ(), "TZ=Asia/Tokyo", inChild+"=1")
	text, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	_, got, _ := strings.Cut(string(text), "<<")
	got, _, _ = strings.Cut(got, ">>")
	zone, got, _ := strings.Cut(got, "\n")
	if zone != "JST" {
		t.Fatalf("the child is in %q, want Tokyo: %s", zone, text)
	}
	if want := fires(); got != want {
		t.Errorf("in Tokyo the fires are\n%s\nwant\n%s", got, want)
	}
}
