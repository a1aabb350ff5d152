package flood

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

func TestAFloodOfOneMessageIsCutAndCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []string
		g := New(func(message string, left int) { told = append(told, fmt.Sprint(message, " ", left)) })
		var out bytes.Buffer
		log := hclog.New(&hclog.LoggerOptions{Output: &out, Exclude: g.Exclude}).Named("engine")
		for i := range 1_000 {
			log.Warn("store is away", "try", i)
		}
		log.Warn("something else")
		if n := strings.Count(out.String(), "store is away"); n != allowed {
			t.Errorf("%d lines of the flood passed, want %d", n, allowed)
		}
		if !strings.Contains(out.String(), "something else") {
			t.Error("a line of another message was left out")
		}
		time.Sleep(window + time.Millisecond)
		synctest.Wait()
		if want := []string{"store is away 980"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		out.Reset()
		log.Warn("store is away")
		if !strings.Contains(out.String(), "store is away") {
			t.Error("after the while the message is still left out")
		}
		time.Sleep(window + time.Millisecond)
	})
}

func TestMessagesBeyondTheBoundPass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(func(string, int) {})
		for i := range 2 * maxMessages {
			if g.Exclude(hclog.Warn, fmt.Sprint(i)) {
				t.Fatalf("message %d was left out", i)
			}
		}
		g.mu.Lock()
		if len(g.counts) > maxMessages {
			t.Errorf("%d messages are counted", len(g.counts))
		}
		g.mu.Unlock()
		time.Sleep(window + time.Millisecond)
	})
}
