package rpc

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	clusterKeyBytes = 32
	keyIDBytes      = 8
	// sealVersion starts every sealed text, so that another way of sealing can come.
	sealVersion = "pk1"
)

// ErrWrongKey says that something was sealed by another cluster key, or damaged.
var ErrWrongKey = errors.New("sealed by another cluster key, or damaged")

// ClusterKey seals the secrets that the cluster keeps in its database. It is given by
// a file or an environment variable, the same on every master and apiserver. It
// prints as its id only.
type ClusterKey struct{ raw [clusterKeyBytes]byte }

// NewClusterKey draws a random key.
func NewClusterKey() ClusterKey {
	var k ClusterKey
	rand.Read(k.raw[:]) // it never fails: crypto/rand ends the process instead
	return k
}

// ParseClusterKey reads 64 hex digits.
func ParseClusterKey(text string) (ClusterKey, error) {
	raw, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(raw) != clusterKeyBytes {
		return ClusterKey{}, fmt.Errorf("cluster key: not %d hex digits", 2*clusterKeyBytes)
	}
	return ClusterKey{raw: [clusterKeyBytes]byte(raw)}, nil
}

// LoadClusterKey reads the key from a file that only its owner can read.
func LoadClusterKey(path string) (ClusterKey, error) {
	text, err := readPrivate(path)
	if err != nil {
		return ClusterKey{}, fmt.Errorf("cluster key: %w", err)
	}
	key, err := ParseClusterKey(string(text))
	if err != nil {
		return ClusterKey{}, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// EnsureClusterKey reads the key from a file, or makes both at the first start.
func EnsureClusterKey(path string) (ClusterKey, error) {
	key, err := LoadClusterKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	key = NewClusterKey()
	err = writePrivate(path, []byte(hex.EncodeToString(key.raw[:])+"\n"), false)
	if errors.Is(err, fs.ErrExist) {
		return LoadClusterKey(path) // another process was first
	}
	if err != nil {
		return ClusterKey{}, fmt.Errorf("cluster key: %w", err)
	}
	return key, nil
}

// ID names the key without telling it.
func (k ClusterKey) ID() string { return hex.EncodeToString(k.id()) }

func (k ClusterKey) id() []byte {
	sum := sha256.Sum256(append([]byte("porpoise cluster key id:"), k.raw[:]...))
	return sum[:keyIDBytes]
}

// String gives the id, so that a key that is logged by mistake stays secret.
func (k ClusterKey) String() string { return "cluster key " + k.ID() }

// GoString is String, for %#v.
func (k ClusterKey) GoString() string { return k.String() }

// Seal encrypts secret by AES-256-GCM. about is not secret, but must be the same when
// it is opened: it says what the secret belongs to.
func (k ClusterKey) Seal(secret, about []byte) ([]byte, error) {
	aead, err := k.aead()
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	sealed := append([]byte(sealVersion), k.id()...)
	nonce := make([]byte, aead.NonceSize())
	rand.Read(nonce) // it never fails: crypto/rand ends the process instead
	sealed = append(sealed, nonce...)
	return aead.Seal(sealed, nonce, secret, about), nil
}

// Open decrypts what Seal made, or answers ErrWrongKey.
func (k ClusterKey) Open(sealed, about []byte) ([]byte, error) {
	aead, err := k.aead()
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	head := len(sealVersion) + keyIDBytes
	if len(sealed) < head+aead.NonceSize() || string(sealed[:len(sealVersion)]) != sealVersion {
		return nil, fmt.Errorf("open: not a sealed secret: %w", ErrWrongKey)
	}
	if id := sealed[len(sealVersion):head]; string(id) != string(k.id()) {
		return nil, fmt.Errorf("open with cluster key %s what %x sealed: %w", k.ID(), id, ErrWrongKey)
	}
	nonce, text := sealed[head:head+aead.NonceSize()], sealed[head+aead.NonceSize():]
	secret, err := aead.Open(nil, nonce, text, about)
	if err != nil {
		return nil, fmt.Errorf("open with cluster key %s: %w", k.ID(), ErrWrongKey)
	}
	return secret, nil
}

func (k ClusterKey) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.raw[:])
	if err != nil {
		return nil, fmt.Errorf("cipher: %w", err)
	}
	return cipher.NewGCM(block)
}

// readPrivate reads a secret file and refuses one that others can read.
func readPrivate(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // nothing was written
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("%s has mode %04o: others can read it; run chmod 600 on it", path, mode)
	}
	const maxSecretFile = 64 << 10
	if info.Size() > maxSecretFile {
		return nil, fmt.Errorf("%s has %d bytes, the limit is %d", path, info.Size(), maxSecretFile)
	}
	text := make([]byte, info.Size())
	if _, err := file.ReadAt(text, 0); err != nil && info.Size() > 0 {
		return nil, err
	}
	return text, nil
}

// writePrivate makes a secret file whole or not at all, also over a power loss. A file
// that exists is replaced, or it is fs.ErrExist.
func writePrivate(path string, text []byte, replace bool) error {
	dir := filepath.Dir(path)
	file, err := os.CreateTemp(dir, filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // gone already when it was renamed
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if replace {
		err = os.Rename(file.Name(), path)
	} else {
		err = os.Link(file.Name(), path)
	}
	if err != nil {
		return err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close() // nothing was written through it
	return folder.Sync()
}
