// Package spawn starts Porpoise as a user would, as processes of the real binary: one
// standalone node, or the cluster of docker-compose.yml with its hosts and folders
// replaced by this machine's.
//
// It owns those processes and stops them; what it needs beside the binary is a MariaDB
// or MySQL for the cluster. It measures nothing: the programs of bench and the cluster
// tests do.
package spawn
