//go:build !race

package main

import "math"

// ciSeeds take less than a minute on two cores; of the worlds that failed once all run.
const (
	ciSeeds  = 220
	ciWorlds = math.MaxInt
)
