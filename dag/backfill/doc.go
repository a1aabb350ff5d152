// Package backfill says which dates a backfill is about, which of them it leaves out, and what becomes of
// it as its instances end.
//
// It owns the states of a backfill and of its dates, and the rules between them. All of it is pure: no
// clock, no I/O, no state; who calls it brings the dates that have run already. The API plans with it, the
// store steps with it.
package backfill
