// Package site runs Porpoise for real: the porpoise binary as processes of their own on
// free loopback ports, with a folder that is gone afterwards.
//
// It owns how a standalone node or a small cluster (etcd, MariaDB, masters, workers,
// apiservers) is brought up, how long one waits for it, how its parts are killed, and
// what it costs in memory and processor time. It knows nothing of what is measured on
// it, and it never reaches into a process other than by its command line, its REST API
// and its signals. The programs in bench use it, and tests of whole clusters may.
package site
