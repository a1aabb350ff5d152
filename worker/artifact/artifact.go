// Package artifact is the files of attempts as a worker has them on disk: a folder for each attempt that leaves artifacts
// or uses some. It makes and deletes those folders, finds in them what an attempt has left, and puts into them what one
// uses, never anything outside of them. It knows no master and starts nothing; worker alone uses it.
//
// A folder outlives the control process, as the attempt does: what an attempt is to leave stands in it.
package artifact

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/worker/task"
)

// The codes of attempts that fail for their artifacts.
const (
	ReasonMissing = "artifact_missing" // it has not left what it declares
	ReasonRefused = "artifact_refused" // it has left what can't be kept: too much, or no plain file
	ReasonInput   = "input_missing"    // what it uses is not there
)

const (
	leftName   = "left"      // what the attempt leaves
	inputsName = "inputs"    // what it uses
	listName   = "list.json" // the names that it declares
)

// Folder is that of one attempt.
type Folder struct{ dir string }

// Make makes the folder of an attempt below root, as empty as it was at first; artifacts are the names that it declares.
func Make(root, mark string, artifacts []string) (*Folder, error) {
	f := &Folder{dir: filepath.Join(root, mark)}
	if err := os.RemoveAll(f.dir); err != nil {
		return nil, fmt.Errorf("make the folder of artifacts: %w", err)
	}
	list, err := json.Marshal(artifacts)
	if err != nil {
		return nil, fmt.Errorf("make the folder of artifacts: %w", err)
	}
	for _, dir := range []string{f.Left(), f.Inputs()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the folder of artifacts: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(f.dir, listName), list, 0o600); err != nil {
		return nil, fmt.Errorf("make the folder of artifacts: %w", err)
	}
	return f, nil
}

// Open finds the folder of an attempt that an earlier process has made, and the names that it declares.
func Open(root, mark string) (f *Folder, artifacts []string, err error) {
	f = &Folder{dir: filepath.Join(root, mark)}
	list, err := os.ReadFile(filepath.Join(f.dir, listName))
	if err == nil {
		err = json.Unmarshal(list, &artifacts)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open the folder of artifacts: %w", err)
	}
	return f, artifacts, nil
}

// Marks lists the attempts that have folders below root.
func Marks(root string) ([]string, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var marks []string
	for _, e := range entries {
		marks = append(marks, e.Name())
	}
	return marks, err
}

// Left is where the attempt leaves its artifacts.
func (f *Folder) Left() string { return filepath.Join(f.dir, leftName) }

// Inputs is where the attempt finds what it uses.
func (f *Folder) Inputs() string { return filepath.Join(f.dir, inputsName) }

// Delete takes the folder away with all that is in it.
func (f *Folder) Delete() error { return os.RemoveAll(f.dir) }

// Collect lists the files that the attempt has left under the names that it declares, in their order. A *task.Error says
// what is not there, or can't be kept.
func (f *Folder) Collect(artifacts []string) ([]string, error) {
	root, err := os.OpenRoot(f.Left())
	if err != nil {
		return nil, &task.Error{Reason: ReasonMissing, Message: "the folder $PORPOISE_ARTIFACTS is gone"}
	}
	defer func() { _ = root.Close() }()
	c := collection{root: root.FS()}
	for _, name := range artifacts {
		if err := c.take(name); err != nil {
			return nil, err
		}
	}
	return c.files, nil
}

// collection gathers files, as far as an attempt may leave so many.
type collection struct {
	root  fs.FS
	files []string
	total int64
}

// take adds an artifact: a file, or all files of a folder.
func (c *collection) take(name string) error {
	path := strings.TrimSuffix(name, "/")
	info, err := fs.Lstat(c.root, path)
	switch {
	case err != nil:
		return &task.Error{Reason: ReasonMissing, Message: fmt.Sprintf("the task has not left its artifact %q: there is no such file in $PORPOISE_ARTIFACTS", name)}
	case path == name:
		return c.add(path, info)
	case !info.IsDir():
		return &task.Error{Reason: ReasonMissing, Message: fmt.Sprintf("the artifact %q is no folder", name)}
	}
	before := len(c.files)
	err = fs.WalkDir(c.root, path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		return c.add(path, info)
	})
	if err == nil && len(c.files) == before {
		return &task.Error{Reason: ReasonMissing, Message: fmt.Sprintf("the task has left no file in its artifact %q", name)}
	}
	return err
}

func (c *collection) add(path string, info fs.FileInfo) error {
	refuse := func(format string, args ...any) error {
		return &task.Error{Reason: ReasonRefused, Message: fmt.Sprintf(format, args...)}
	}
	if !info.Mode().IsRegular() {
		return refuse("the artifact %q is no plain file: links, folders and devices are not taken", path)
	}
	if fault := dag.ArtifactFault(path); fault != "" {
		return refuse("the artifact %q can't be kept: %s", path, fault)
	}
	if len(c.files) >= dag.MaxArtifacts {
		return refuse("the task has left over %d files as artifacts", dag.MaxArtifacts)
	}
	if c.total += info.Size(); c.total > dag.MaxArtifactBytes {
		return refuse("the artifacts of the task are over %d MiB together", dag.MaxArtifactBytes>>20)
	}
	c.files = append(c.files, path)
	return nil
}
