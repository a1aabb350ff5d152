package runner

import (
	"errors"
	"strings"
	"testing"
)

func TestOutputOfAShortTaskIsReadableAfterItsEnd(t *testing.T) {
	t.Parallel()
	h := launch(t)
	h.start(shell(1, "echo out; echo err >&2; echo more"))
	e := h.exit("m1")
	if e.State != "success" || e.LogBytes != 13 {
		t.Fatalf("exit = %v, want success with 13 bytes", e)
	}
	if got := string(h.read(1, "stdout", 0).Data); got != "out\nmore\n" {
		t.Errorf("stdout = %q", got)
	}
	if got := h.read(1, "stderr", 1); string(got.Data) != "rr\n" || !got.Eof || got.Size != 4 {
		t.Errorf("stderr from 1 = %v", got)
	}
	if got := string(h.read(1, "", -3).Data); len(got) != 3 {
		t.Errorf("last 3 bytes = %q", got)
	}
	if got := h.read(2, "", 0); got.Error != "not_found" {
		t.Errorf("output of an unknown attempt = %v", got)
	}
}

func TestAFailedTaskTellsItsCodeOrSignal(t *testing.T) {
	t.Parallel()
	h := launch(t)
	h.start(shell(1, "exit 3"))
	if e := h.exit("m1"); e.State != "failed" || e.Reason != "exit_code" || e.ExitCode != 3 {
		t.Errorf("exit = %v", e)
	}
	h.start(shell(2, "kill -SEGV $$"))
	if e := h.exit("m2"); e.State != "failed" || e.Reason != "signal" || e.ExitCode != 139 || !strings.Contains(e.Message, "SIGSEGV") {
		t.Errorf("exit = %v", e)
	}
}

// Whoever has told a runner to quit must not take its end for a loss, and start another.
func TestOnlyAnUnwantedEndOfTheRunnerIsALoss(t *testing.T) {
	t.Parallel()
	h := launch(t)
	h.client.Send(&Order{Quit: true})
	<-h.ended
	if h.over != nil {
		t.Errorf("a runner that was told to quit is called lost: %v", h.over)
	}
	if _, err := h.proc.Wait(); err != nil {
		t.Fatal(err)
	}
	h.connect()
	if err := h.proc.Kill(); err != nil {
		t.Fatal(err)
	}
	<-h.ended
	if !errors.Is(h.over, ErrGone) {
		t.Errorf("a killed runner is told as %v, want %v", h.over, ErrGone)
	}
}
