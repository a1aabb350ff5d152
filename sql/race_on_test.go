//go:build race

package sql

// fillDigits makes the lists' table a thousandth as large: under the race detector SQLite,
// which is Go here, takes twenty times as long, and nothing of this test is concurrent.
const fillDigits = 3
