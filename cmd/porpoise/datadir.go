package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/porpoise/porpoise/registry"
)

// The files of a data folder that cmd owns; the parts have folders of their own in it.
const (
	lockFile          = "lock"
	servingFile       = "serving" // locked once the role has started
	nodeFile          = "node-id"
	incarnationFile   = "incarnation"
	adminPasswordFile = "admin-password"
	adminTokenFile    = "admin-token"
	clusterKeyFile    = "cluster.key"
	secretKeyFile     = "secret-key"
	databaseFile      = "porpoise.db"
	etcdDir           = "etcd"
	workerDir         = "worker"
	certificateDir    = "tls"
)

// dataDir is a locked data folder. Whoever holds the lock is the node: an earlier
// incarnation of it is dead, because the kernel frees a lock with its process.
type dataDir struct {
	path    string
	lock    *os.File
	serving *os.File // nil while the role starts
}

// errDataInUse says that another process holds the folder.
var errDataInUse = errors.New("another porpoise process uses this folder")

// openData makes the folder, readable by its owner only, and locks it.
func openData(path string) (*dataDir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", path, err)
	}
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(abs, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if err := takeLock(lock); err != nil {
		_ = lock.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("data folder %s: %w; stop it, or give --data another folder", abs, errDataInUse)
		}
		return nil, fmt.Errorf("lock data folder %s: %w", abs, err)
	}
	return &dataDir{path: abs, lock: lock}, nil
}

// takeLock takes the lock or fails at once, but for a health check, which holds it for an
// instant to see whether somebody else does.
func takeLock(lock *os.File) error {
	const tries, between = 3, 20 * time.Millisecond
	var err error
	for range tries {
		if err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil || !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		time.Sleep(between)
	}
	return err
}

// Close gives the locks up.
func (d *dataDir) Close() error {
	if d.serving != nil {
		_ = d.serving.Close() // the kernel drops the lock in any case
	}
	return d.lock.Close()
}

// serves lets health checks see that the role has started.
func (d *dataDir) serves() error {
	f, err := os.OpenFile(d.file(servingFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	if err := takeLock(f); err != nil {
		_ = f.Close()
		return fmt.Errorf("lock %s: %w", d.file(servingFile), err)
	}
	d.serving = f
	return nil
}

func (d *dataDir) file(name ...string) string {
	return filepath.Join(append([]string{d.path}, name...)...)
}

// node returns the node's name: the wanted one, or that of the folder, made up at the
// first start as prefix and eight random digits.
func (d *dataDir) node(wanted, prefix string) (string, error) {
	kept, err := os.ReadFile(d.file(nodeFile))
	switch {
	case err == nil:
		name := strings.TrimSpace(string(kept))
		if err := registry.CheckName("node", name); err != nil {
			return "", fmt.Errorf("%s: %w", d.file(nodeFile), err)
		}
		if wanted != "" && wanted != name {
			return "", fmt.Errorf("node: this data folder belongs to node %q, not %q", name, wanted)
		}
		return name, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("read the node's name: %w", err)
	}
	if wanted == "" {
		wanted = prefix + "-" + randomHex(4)
	}
	return wanted, writeSecret(d.file(nodeFile), wanted)
}

// succeed writes down the life that begins and returns the one before it, "" at the
// first start.
func (d *dataDir) succeed(incarnation string) (before string, err error) {
	text, err := os.ReadFile(d.file(incarnationFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the last incarnation: %w", err)
	}
	return strings.TrimSpace(string(text)), writeSecret(d.file(incarnationFile), incarnation)
}

// newIncarnation names this life of the process.
func newIncarnation() string { return randomHex(8) }

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails, as crypto/rand documents
	return hex.EncodeToString(b)
}

// writeSecret writes a file that only its owner can read, whole or not at all.
func writeSecret(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when it was renamed
	_, err = f.WriteString(text + "\n")
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// maxSecret bounds a secret file.
const maxSecret = 64 << 10

// readSecret reads a secret file and refuses one that others can read.
func readSecret(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("%s has mode %04o, so that others can read it: chmod 600 it", path, info.Mode().Perm())
	case info.Size() > maxSecret:
		return "", fmt.Errorf("%s has %d bytes, which is no secret", path, info.Size())
	}
	text := make([]byte, info.Size())
	if n, err := f.Read(text); err != nil && n == 0 && info.Size() > 0 {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return strings.TrimSpace(string(text)), nil
}
