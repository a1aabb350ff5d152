//go:build !race

package slot

const racing = false
