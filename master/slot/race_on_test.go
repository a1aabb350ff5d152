//go:build race

package slot

// racing says that the race detector is on, which makes a simulation ten times slower.
const racing = true
