package site

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// Root is the module's folder: the working directory or the nearest one above it that
// holds go.mod.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find the module: no go.mod here or above")
		}
		dir = filepath.Dir(dir)
	}
}

// Build compiles a program of this module, such as cmd/porpoise, into a folder and
// returns the binary's path. It is built as it is released: static, without cgo.
func Build(ctx context.Context, program, into string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(into, filepath.Base(program))
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, "./"+program)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", program, err, out)
	}
	return binary, nil
}

// Binary returns the absolute path of a given porpoise binary, or builds one into the
// folder when none is given.
func Binary(ctx context.Context, given, into string) (string, error) {
	if given == "" {
		return Build(ctx, "cmd/porpoise", into)
	}
	path, err := filepath.Abs(given)
	if err != nil {
		return "", fmt.Errorf("binary %s: %w", given, err)
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("binary: %w", err)
	}
	return path, nil
}
