// Package site runs Porpoise for real: the porpoise binary as processes of their own on
// free loopback ports, with a folder that is gone afterwards.
//
// It owns how a standalone node, or the cluster of docker-compose.yml with its hosts and
// folders replaced by this machine's, is brought up, how long one waits for it, how its
// parts are killed, and what it costs in memory and processor time. It knows nothing of
// what is measured on it, and it never reaches into a process other than by its command
// line, its REST API and its signals. The programs in bench use it; its own tests are
// those of the whole product.
package site
