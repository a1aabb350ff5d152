package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/porpoise/porpoise/bench/site"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

// bench is a cluster whose masters come and go.
type bench struct {
	options
	site *site.Site
	seen map[int64]rebalance // by epoch
	hung bool                // a master hangs just now
}

// rebalance is what counts of one: closed is from its first PREPARE to its COMMIT.
type rebalance struct {
	closed   time.Duration
	restarts int
	hung     bool // meanwhile a master did not answer
}

const (
	project, workflow = "bench", "one"
	// patience bounds the wait for one change of the layout.
	patience  = 60 * time.Second
	lookEvery = 20 * time.Millisecond
)

// prepare waits for the first layout and saves what the load starts.
func (b *bench) prepare(ctx context.Context) error {
	if _, err := b.site.Client.PutProject(ctx, project, "Rebalances"); err != nil {
		return fmt.Errorf("make the project: %w", err)
	}
	text := []byte("name: one\ntasks:\n  - {name: a, type: noop}\n")
	if _, err := b.site.Client.SaveWorkflow(ctx, client.Save{Project: project, Workflow: workflow, Text: text, Format: "yaml", Publish: true}); err != nil {
		return fmt.Errorf("save the workflow: %w", err)
	}
	return b.members(ctx, "all masters share the slots", b.masters)
}

// members waits until n masters have a part in the layout in force.
func (b *bench) members(ctx context.Context, what string, n int) error {
	return b.until(ctx, what, func(s client.Slots) bool {
		have := 0
		for _, m := range s.Masters {
			if m.State == "member" {
				have++
			}
		}
		return have == n
	})
}

// until waits until a layout in force is as wanted, and keeps the rebalances that are told meanwhile.
func (b *bench) until(ctx context.Context, what string, ok func(client.Slots) bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		slots, err := b.site.Client.Slots(ctx)
		if err == nil {
			b.keep(slots.Rebalances)
			// The history is written after the layout is in force.
			known := len(slots.Rebalances) > 0 && slots.Rebalances[0].Epoch == slots.Epoch
			if slots.State == "committed" && known && ok(slots) {
				return nil
			}
			err = fmt.Errorf("the layout is %s of %+v", slots.State, slots.Masters)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until %s: %w (%w)", what, ctx.Err(), err)
		case <-time.After(lookEvery):
		}
	}
}

func (b *bench) keep(list []client.Rebalance) {
	for _, r := range list {
		if _, known := b.seen[r.Epoch]; known || len(r.Steps) == 0 {
			continue
		}
		b.seen[r.Epoch] = rebalance{closed: r.CommittedAt.Sub(r.Steps[0].At.Time), restarts: r.Restarts, hung: b.hung}
	}
}

// comeAndGo stops the last master and starts it again, until enough rebalances were seen.
func (b *bench) comeAndGo(ctx context.Context) error {
	clear(b.seen) // those of the start are not under load
	last := b.site.Part(fmt.Sprintf("master-%d", b.masters))
	for len(b.seen) < b.wanted {
		last.Signal(syscall.SIGTERM)
		if err := last.Wait(ctx); err != nil {
			return fmt.Errorf("stop %s: %w", last.Name, err)
		}
		if err := b.members(ctx, "the others have its slots", b.masters-1); err != nil {
			return err
		}
		if err := b.site.Restart(ctx, last); err != nil {
			return err
		}
		if err := b.members(ctx, "it has slots again", b.masters); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "\r%d of %d rebalances ", len(b.seen), b.wanted)
	}
	fmt.Fprintln(os.Stderr)
	return nil
}

// hang stops one master by a signal while another one joins: it does not answer, and its lease
// runs on for a while.
func (b *bench) hang(ctx context.Context) error {
	last := b.site.Part(fmt.Sprintf("master-%d", b.masters))
	for i := range b.wedged {
		hung := b.site.Part(fmt.Sprintf("master-%d", 1+i%2))
		last.Signal(syscall.SIGTERM)
		if err := last.Wait(ctx); err != nil {
			return fmt.Errorf("stop %s: %w", last.Name, err)
		}
		if err := b.members(ctx, "the others have its slots", b.masters-1); err != nil {
			return err
		}
		if err := b.site.Restart(ctx, last); err != nil {
			return err
		}
		// It has just begun, and will have registered in a moment.
		hung.Signal(syscall.SIGSTOP)
		b.hung = true
		err := b.until(ctx, "the others have gone on", func(s client.Slots) bool {
			return is(s, last.Name, "member") && !is(s, hung.Name, "member")
		})
		b.hung = false
		hung.Signal(syscall.SIGCONT)
		if err != nil {
			return err
		}
		if err := b.members(ctx, "it has slots again", b.masters); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "\r%d of %d with a master that hangs ", i+1, b.wedged)
	}
	fmt.Fprintln(os.Stderr)
	return nil
}

// is says whether a master is in a state.
func is(s client.Slots, name, state string) bool {
	return slices.ContainsFunc(s.Masters, func(m client.SlotMaster) bool { return m.Name == name && m.State == state })
}
