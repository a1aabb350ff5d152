// Package examples holds the workflows that a new node shows at its first start, so
// that there is something to run before anything was written.
//
// It owns the YAML files of this folder and nothing else; cmd saves them. They are also
// what the documents point at.
package examples

import (
	"embed"
	"fmt"
)

//go:embed *.yaml
var files embed.FS

// Example is one definition.
type Example struct {
	File string
	Text []byte
	// Run says that a new node runs it once by itself: one that succeeds, and one that fails,
	// so that its first screen has something to look at.
	Run bool
}

// run are the files of what a new node runs. Neither needs more than sh.
var run = map[string]bool{"hello.yaml": true, "nightly_sales.yaml": true}

// All returns the examples in order of their file names.
func All() []Example {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(fmt.Sprintf("examples: %v", err)) // they are part of the binary
	}
	list := make([]Example, 0, len(entries))
	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err != nil {
			panic(fmt.Sprintf("examples: %v", err))
		}
		list = append(list, Example{File: e.Name(), Text: text, Run: run[e.Name()]})
	}
	return list
}
