// Package rpc holds the messages between master, worker and apiserver, and how a
// connection between them is secured: one certificate authority per cluster, a
// certificate per node whose role decides which calls it may make, TLS 1.3 with
// certificates on both sides. The only call without one is Master.Join, which gives a
// new node its certificate for a join token.
//
// It owns no behaviour of the parts: master and apiserver serve, worker dials. It
// keeps no state but counters; the authority's key is sealed by the cluster key and
// kept by package sql, join tokens too.
//
// A node keeps its certificate for a year. There is no call to renew one: a master,
// which holds the authority, issues itself a new one when Due; a worker joins again.
package rpc

//go:generate go run ./gen porpoise.proto
