package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// cost is what one outage cost.
type cost struct {
	What              string   `json:"what"`
	Down              float64  `json:"down_s"`
	Acked             int      `json:"acked"`             // starts that were answered with 202, over the whole
	AckedDown         int      `json:"acked_down"`        // of them while it was away
	Refused           int      `json:"refused"`           // starts that were answered with 503
	NoRetryAfter      int      `json:"no_retry_after"`    // of them without a word when to come again
	OtherErrors       int      `json:"other_errors"`      // any other answer, or none within 10 s
	SlowestRefusal    float64  `json:"slowest_503_s"`     // time to the answer of the slowest refusal
	Reads             int      `json:"reads_down"`        // lists that were asked for while it was away
	ReadsFailed       int      `json:"reads_down_failed"` // of them without 200 within 10 s
	Lost              int      `json:"acked_lost"`        // acked, and not a success at the end
	LongTasks         int      `json:"long_tasks"`        // that ran before the outage and after it
	SecondAttempts    int      `json:"extra_attempts"`    // attempts beyond the first, of any task
	LostAttempts      int      `json:"lost_attempts"`     // by the rows: neither running nor a success
	FailedInstances   int      `json:"failed_instances"`  // by the rows
	NormalAfter       float64  `json:"normal_after_s"`    // from the return until a new start has run to its end
	FirstAnswerAfter  float64  `json:"first_202_after_s"`
	SuccessesMeantime int      `json:"finished_while_down"`
	Failovers         int      `json:"failovers"`
	Ended             []string `json:"ended,omitempty"` // nodes that are not there any more
	LogPerSecond      float64  `json:"log_bytes_per_s"` // of the loudest node
	Note              string   `json:"note,omitempty"`
}

const (
	// normalBar is from the return to the end of a new start; refusalBar is how long a refusal may take:
	// a statement waits 2 s for a connection.
	normalBar  = 5 * time.Second
	refusalBar = 3 * time.Second
	// logBar is what one node may log in a second: an outage is told, not repeated by every call.
	logBar = 8 << 10
)

// missed names the bars that were missed.
func (f cost) missed(o outage) []error {
	var wrong []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf("%s: %s", f.What, fmt.Sprintf(format, args...)))
		}
	}
	check(f.Lost+f.FailedInstances == 0, "%d starts were acked and lost, %d instances failed", f.Lost, f.FailedInstances)
	check(f.SecondAttempts+f.LostAttempts == 0, "%d attempts beyond the first, %d were lost", f.SecondAttempts, f.LostAttempts)
	check(f.Failovers == 0 || o.yields, "%d failovers", f.Failovers)
	check(len(f.Ended) == 0, "%v ended", f.Ended)
	check(f.OtherErrors == 0, "%d starts had neither 202 nor 503 within %s", f.OtherErrors, callTimeout)
	check(f.ReadsFailed == 0 || !o.reads, "%d of %d reads failed", f.ReadsFailed, f.Reads)
	check(f.NoRetryAfter == 0, "%d refusals without Retry-After", f.NoRetryAfter)
	check(f.SlowestRefusal <= refusalBar.Seconds() || o.sheds, "a refusal took %.1f s", f.SlowestRefusal)
	check(f.NormalAfter <= normalBar.Seconds(), "normal %.1f s after the return", f.NormalAfter)
	check(f.LogPerSecond <= logBar, "a node logged %.0f bytes a second", f.LogPerSecond)
	if o.bites {
		check(f.Refused > 0, "no start was refused: it was no outage")
	} else {
		check(f.AckedDown > 0, "no start was acked meanwhile")
	}
	return wrong
}

// header is that of the table of all outages.
var header = []string{
	"what", "for", "starts acked (meanwhile)", "503 (slowest)", "other", "reads failed meanwhile", "acked and lost", "attempts lost or doubled", "failovers", "normal after", "log of a node",
}

func (f cost) cells() []string {
	what := f.What
	if f.Note != "" {
		what += "; " + f.Note
	}
	if len(f.Ended) > 0 {
		what += "; ended: " + strings.Join(f.Ended, " ")
	}
	return []string{
		what, fmt.Sprintf("%.0f s", f.Down), fmt.Sprintf("%d (%d)", f.Acked, f.AckedDown), fmt.Sprintf("%d (%.1f s)", f.Refused, f.SlowestRefusal),
		fmt.Sprint(f.OtherErrors), fmt.Sprintf("%d of %d", f.ReadsFailed, f.Reads), fmt.Sprint(f.Lost + f.FailedInstances), fmt.Sprint(f.LostAttempts + f.SecondAttempts), fmt.Sprint(f.Failovers),
		fmt.Sprintf("%.1f s", f.NormalAfter), fmt.Sprintf("%.0f B/s", f.LogPerSecond),
	}
}

// judge fills the figures in from the answers and from what stands at the end.
func (l *load) judge(ctx context.Context, f *cost, long []string, from, to time.Time) error {
	l.mu.Lock()
	calls := l.calls
	for _, r := range l.reads {
		if r.sent.After(from) && r.sent.Before(to) {
			f.Reads++
			if r.status != http.StatusOK {
				f.ReadsFailed++
			}
		}
	}
	l.mu.Unlock()
	ids := append([]string(nil), long...)
	for _, c := range calls {
		down := c.sent.After(from) && c.sent.Before(to)
		switch {
		case c.id != "":
			f.Acked++
			ids = append(ids, c.id)
			if down {
				f.AckedDown++
			}
			if first := c.sent.Add(c.took).Sub(to).Seconds(); first > 0 && (f.FirstAnswerAfter == 0 || first < f.FirstAnswerAfter) {
				f.FirstAnswerAfter = first
			}
		case c.status == http.StatusServiceUnavailable:
			f.Refused++
			f.SlowestRefusal = max(f.SlowestRefusal, c.took.Seconds())
			if c.again == "" {
				f.NoRetryAfter++
			}
		default:
			f.OtherErrors++
		}
	}
	until := time.Now().Add(settleWait)
	for i, id := range ids {
		in, err := l.instance(ctx, id)
		for err == nil && in.State != "success" && time.Now().Before(until) {
			sleep(ctx, 200*time.Millisecond)
			in, err = l.instance(ctx, id)
		}
		if err != nil {
			return err
		}
		if in.State != "success" {
			f.Lost++
		} else if in.Finished.After(from) && in.Finished.Before(to) {
			f.SuccessesMeantime++
		}
		var tasks struct {
			Items []struct {
				Attempts int `json:"attempts"`
			} `json:"items"`
		}
		if err := l.must(ctx, "GET", "/instances/"+id+"/tasks", "", "", &tasks); err != nil {
			return err
		}
		for _, task := range tasks.Items {
			f.SecondAttempts += max(0, task.Attempts-1)
		}
		if i < len(long) {
			f.LongTasks++
		}
	}
	return nil
}
