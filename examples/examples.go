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
}

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
		list = append(list, Example{File: e.Name(), Text: text})
	}
	return list
}
