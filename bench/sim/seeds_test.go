//go:build !race

package main

// ciSeeds take less than a minute on two cores.
const ciSeeds = 220
