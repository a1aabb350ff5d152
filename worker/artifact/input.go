package artifact

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"os"
	"path"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
)

// ErrDamaged says that a file is not what its hash says.
var ErrDamaged = errors.New("came damaged")

// Inputs puts the files of one task into the folder of an attempt that uses them, part by part. One goroutine uses it.
type Inputs struct {
	root *os.Root
	task string

	files int
	name  string
	file  *os.File // nil between two files
	hash  hash.Hash
}

// Fill begins to put files of a task in; Close ends it.
func (f *Folder) Fill(taskName string) (*Inputs, error) {
	root, err := os.OpenRoot(f.Inputs())
	if err != nil {
		return nil, fmt.Errorf("open the folder of inputs: %w", err)
	}
	return &Inputs{root: root, task: taskName}, nil
}

// Take takes one part. A file that is there already is written anew.
func (in *Inputs) Take(part *rpc.ArtifactPart) error {
	if name := part.GetName(); name != "" {
		if fault := dag.ArtifactFault(name); fault != "" {
			return fmt.Errorf("input %q: %s", name, fault)
		}
		if in.file != nil {
			return fmt.Errorf("input %q begins within another file", name)
		}
		full := path.Join(in.task, name)
		if err := in.root.MkdirAll(path.Dir(full), 0o700); err != nil {
			return fmt.Errorf("write input %q: %w", name, err)
		}
		file, err := in.root.OpenFile(full, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return fmt.Errorf("write input %q: %w", name, err)
		}
		in.file, in.name, in.hash = file, name, sha256.New()
	}
	if data := part.GetData(); len(data) > 0 {
		if in.file == nil {
			return errors.New("data of no input")
		}
		_, _ = in.hash.Write(data) // a hash takes everything
		if _, err := in.file.Write(data); err != nil {
			return fmt.Errorf("write input %q: %w", in.name, err)
		}
	}
	if sum := part.GetSha256(); len(sum) > 0 {
		return in.end(sum)
	}
	return nil
}

func (in *Inputs) end(sum []byte) error {
	if in.file == nil {
		return errors.New("the end of no input")
	}
	err := in.file.Close()
	in.file = nil
	if err != nil {
		return fmt.Errorf("write input %q: %w", in.name, err)
	}
	if !bytes.Equal(in.hash.Sum(nil), sum) {
		return fmt.Errorf("input %q: %w", in.name, ErrDamaged)
	}
	in.files++
	return nil
}

// Close says whether at least one file came, and all of them whole.
func (in *Inputs) Close() error {
	err := in.root.Close()
	if in.file != nil {
		return errors.Join(errors.New("the inputs end within a file"), in.file.Close(), err)
	}
	if in.files == 0 {
		return errors.Join(errors.New("no input came"), err)
	}
	return err
}
