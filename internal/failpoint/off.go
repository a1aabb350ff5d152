//go:build !failpoints

package failpoint

// Hit does nothing in a build without the tag failpoints.
func Hit(string) error { return nil }

// Environment is nothing in a build without the tag failpoints.
func Environment() []string { return nil }
