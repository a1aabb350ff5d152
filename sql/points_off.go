//go:build !failpoints

package sql

// point is nothing in a build without failpoints.
func (b *batch) point(string) error { return nil }
