// Command porpoise is the whole product in one binary: every role of a cluster, all of
// them in one process (standalone), and the verbs of a client.
//
// It owns flags, configuration, the data folder, and how the parts are built, joined
// and stopped. It decides nothing about workflows: below here no part knows whether it
// runs alone or in a cluster. Each verb has its own file; exit codes are in exit.go.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}
