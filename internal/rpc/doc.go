// Package rpc holds the messages between master, worker and apiserver, and how a
// connection between them is secured: one certificate authority per cluster, a
// certificate per node whose role decides which calls it may make. It owns no
// behaviour of the parts: master and apiserver serve, worker dials.
package rpc

//go:generate go run ./gen porpoise.proto
