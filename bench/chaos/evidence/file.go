// Package evidence gathers what a chaos run leaves for the verdict, from outside the
// product: database triggers that copy every write, the log of the registry's changes,
// scans of the process table, and the tables as they stand at rest.
//
// It owns files of JSON lines in the run's folder and nothing of the cluster. It judges
// nothing: program bench/verdict does, which reads the files and shares no code with it.
package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
)

// File is an append-only file of JSON lines; its methods may be called from anywhere.
type File struct {
	mu   sync.Mutex
	file *os.File
	err  error
}

// Create makes a file.
func Create(path string) (*File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create evidence: %w", err)
	}
	return &File{file: f}, nil
}

// Write adds a line. An error is told by Close: evidence that is not whole is none.
func (f *File) Write(line any) {
	text, err := json.Marshal(line)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		_, err = f.file.Write(append(text, '\n'))
	}
	f.err = errors.Join(f.err, err)
}

// Close ends the file and tells what went wrong with any line.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.err, f.file.Close())
}
