// Package inprocess is the registry in memory, for tests and simulation only. It keeps
// the contract of package registry, and it can be told to misbehave: SetDown takes it
// away, Expire ends a lease, Wipe loses everything. Its only clock is the time package,
// so that testing/synctest can drive it. No role uses it in production.
package inprocess
