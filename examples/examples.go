// Package examples holds the workflows that a new node shows at its first start, so
// that there is something to run before anything was written.
//
// It owns the YAML files of this folder and nothing else; cmd saves them. They are also
// what the documents point at. Beside each are its cases, which its tests run as porpoise
// test does; they are no part of the binary's list.
package examples

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// casesEnd ends the names of files with cases.
const casesEnd = ".test.yaml"

// Example is one definition.
type Example struct {
	File string
	Text []byte
	// Cases is the text of its cases for porpoise test.
	Cases []byte
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
		if strings.HasSuffix(e.Name(), casesEnd) {
			continue
		}
		cases := strings.TrimSuffix(e.Name(), ".yaml") + casesEnd
		list = append(list, Example{File: e.Name(), Text: read(e.Name()), Cases: read(cases), Run: run[e.Name()]})
	}
	return list
}

func read(name string) []byte {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("examples: %v", err))
	}
	return text
}
