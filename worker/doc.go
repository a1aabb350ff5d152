// Package worker is a worker's control process: it finds the masters, asks them for as
// much work as it has free slots, has the runner run it, and reports its end until a
// master has taken it. It owns the slots, the outbox and what it knows of attempts; it
// never decides what runs next, and it never writes to the database. One loop owns all
// state; links, runner and calls bring it events.
package worker
