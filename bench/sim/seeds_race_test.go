//go:build race

package main

// Few worlds run under the race detector: one goroutine races nobody, and SQLite is slow there. All run without it.
const (
	ciSeeds  = 3
	ciWorlds = 2
)
