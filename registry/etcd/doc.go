// Package etcd is the registry over etcd: the client side, which is the same for an
// external cluster and for the embedded server, and the embedded server itself.
//
// Everything lives below /porpoise/<cluster id>/: members/<role>/<node> under leases,
// locks/<name> under the holder's lease, data/<key> for the shared keys. Keys of
// another cluster are never read. A lease is judged by the time at which the last
// answered renewal was sent, never by a channel that may close or not. A list is
// always read whole and then followed from its revision; it is read again after every
// break and every half minute. It never decides what a missing member means.
//
// cmd builds the client or the embedded server; everybody else sees registry.Registry.
package etcd
