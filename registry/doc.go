// Package registry says who is in the cluster and gives it a little shared memory.
//
// It owns the contracts (members under a lease, lists that follow every change,
// locks with a revision for fencing, guarded keys), the member's record and the rules
// for names. It never decides what an absence means: master and worker do, and safety
// comes from the database's epochs, never from here. While the registry is away the
// last list stands: nobody is declared dead for it.
//
// etcd implements it over a cluster or an embedded server, inprocess in memory for
// tests and simulation, and registrytest is the suite that both pass. Master, worker
// and apiserver use it through Registry.
package registry
