//go:build !race

package sql

// fillDigits is the decimal logarithm of how many instances the lists are tried on.
const fillDigits = 6
