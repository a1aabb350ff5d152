//go:build race

package main

// ciSeeds are few under the race detector: one goroutine races nobody, and SQLite is slow there.
const ciSeeds = 4
