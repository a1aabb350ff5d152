package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestADataFolderHasOneProcess(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	first, err := openData(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v %v, want mode 0700", info.Mode(), err)
	}
	if !held(first.file(lockFile)) {
		t.Error("the lock is not seen as held")
	}
	if _, err := openData(dir); !errors.Is(err, errDataInUse) {
		t.Errorf("second = %v, want %v", err, errDataInUse)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if held(first.file(lockFile)) {
		t.Error("the lock is seen as held after it was given up")
	}
	second, err := openData(dir)
	if err != nil {
		t.Fatalf("after the first is gone: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestANodeKeepsItsNameAndKnowsItsLastLife(t *testing.T) {
	t.Parallel()
	d, err := openData(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	name, err := d.node("", "worker")
	if err != nil || !strings.HasPrefix(name, "worker-") {
		t.Fatalf("node = %q, %v", name, err)
	}
	if again, err := d.node("", "worker"); err != nil || again != name {
		t.Errorf("again = %q, %v, want %q", again, err, name)
	}
	if _, err := d.node("other", "worker"); err == nil {
		t.Error("the folder of one node was taken by another")
	}
	if before, err := d.succeed("one"); err != nil || before != "" {
		t.Errorf("first life follows %q, %v", before, err)
	}
	if before, err := d.succeed("two"); err != nil || before != "one" {
		t.Errorf("second life follows %q, %v", before, err)
	}
}

func TestSecretsAreForTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	if err := writeSecret(path, "x"); err != nil {
		t.Fatal(err)
	}
	if got, err := readSecret(path); err != nil || got != "x" {
		t.Errorf("read = %q, %v", got, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readSecret(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that all can read = %v, want an error that says what to do", err)
	}
}
