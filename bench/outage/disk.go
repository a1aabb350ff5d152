package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	// diskSize holds a new MariaDB, some 150 MB, and what it writes before the disk is full.
	diskSize = "size=384m,mode=755"
	ballast  = 1 << 20
)

// disk is a small one in memory; only root can have it.
type disk struct{ path string }

func mount() (*disk, error) {
	path, err := os.MkdirTemp("", "porpoise-disk.")
	if err != nil {
		return nil, fmt.Errorf("make a disk: %w", err)
	}
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, diskSize); err != nil {
		return nil, errors.Join(fmt.Errorf("mount a small disk, which needs root: %w", err), os.Remove(path))
	}
	return &disk{path: path}, nil
}

func (d *disk) unmount() error {
	if err := unix.Unmount(d.path, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount %s: %w", d.path, err)
	}
	return os.Remove(d.path)
}

func (d *disk) ballast() string { return filepath.Join(d.path, "ballast") }

// fill writes until there is no space.
func (d *disk) fill() (err error) {
	f, err := os.Create(d.ballast())
	if err != nil {
		return fmt.Errorf("fill the disk: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for block := make([]byte, ballast); ; {
		if _, err := f.Write(block); errors.Is(err, unix.ENOSPC) {
			return nil
		} else if err != nil {
			return fmt.Errorf("fill the disk: %w", err)
		}
	}
}

func (d *disk) free() error {
	if err := os.Remove(d.ballast()); err != nil {
		return fmt.Errorf("give the space back: %w", err)
	}
	return nil
}
