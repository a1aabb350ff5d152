// Package cron says when a schedule fires.
//
// It owns the language of cron expressions, in its Unix and its Quartz dialect: reading
// them, the moments at which they fire in a timezone, and what they mean in words. It is
// pure: no clock, no I/O, no state; who calls it brings the moment to count from. It never
// remembers a fire: two calls with the same arguments give the same answer on every master.
// The apiserver previews with it, and whoever needs the schedule times of a stretch asks
// Next until it is past the end.
package cron
