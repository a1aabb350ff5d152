package main

import "strings"

// The words and the arrows of docs/STATES.md, written down once more on purpose: a table
// that was taken from the product would follow its faults.

func table(text string) map[string]map[string]bool {
	t := map[string]map[string]bool{}
	for arrow := range strings.Lines(text) {
		from, to, ok := strings.Cut(strings.TrimSpace(arrow), ": ")
		if !ok {
			continue
		}
		t[from] = map[string]bool{}
		for word := range strings.FieldsSeq(to) {
			t[from][word] = true
		}
	}
	return t
}

func words(text string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		m[word] = true
	}
	return m
}

var (
	finalInstance = words("stopped failed success quarantined")
	finalTask     = words("success forced_success failed killed skipped upstream_failed disabled")
	finalAttempt  = words("success failed killed lost returned")

	nextInstance = table(`
		submitted: serial_wait running stopping quarantined
		serial_wait: running stopping quarantined
		running: pausing stopping failed success quarantined
		pausing: running paused stopping failed success quarantined
		paused: running stopping failed success quarantined
		stopping: stopped failed success quarantined`)
	nextTask = table(`
		waiting: ready running success forced_success failed killed skipped upstream_failed disabled
		ready: dispatched running success forced_success failed killed skipped
		dispatched: ready running retry_wait killing success failed killed
		running: ready retry_wait killing success failed killed
		retry_wait: ready running forced_success killed skipped
		killing: retry_wait success failed killed`)
	nextAttempt = table(`
		dispatched: running killing success failed killed lost returned
		running: killing success failed killed lost returned
		killing: success failed killed lost returned`)
	// What a new round may do to what was final.
	againInstance = table(`
		stopped: serial_wait running
		failed: serial_wait running
		success: serial_wait running`)
	againTask = table(`
		success: waiting ready dispatched
		forced_success: waiting ready dispatched
		failed: waiting ready dispatched forced_success
		killed: waiting ready dispatched forced_success
		skipped: waiting ready dispatched
		upstream_failed: waiting ready dispatched forced_success
		disabled: waiting ready dispatched`)
)

// reach says whether a state can follow another by one or several arrows: one commit may
// hold several steps.
func reach(arrows map[string]map[string]bool, from, to string) bool {
	seen, todo := map[string]bool{from: true}, []string{from}
	for len(todo) > 0 {
		next := todo[0]
		todo = todo[1:]
		for s := range arrows[next] {
			if s == to {
				return true
			}
			if !seen[s] {
				seen[s] = true
				todo = append(todo, s)
			}
		}
	}
	return false
}
