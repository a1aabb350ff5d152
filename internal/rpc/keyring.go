package rpc

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
)

// ErrNoKeyring says that this process has no key file, or an empty one.
var ErrNoKeyring = errors.New("no secret key")

// Keyring seals and opens by the keys of a file, one line of 64 hex digits each: the first seals,
// all open. It has the form of the cluster key, and is another key: who has a backup of the database
// and of the cluster key has no secret yet. The file is read when something is sealed, and when something was sealed
// by a key that is not known yet, so that a key that is added counts at once. It is safe for concurrent use.
type Keyring struct {
	path string

	mu   sync.Mutex // guards keys
	keys map[string]ClusterKey
}

// NewKeyring returns a Keyring of a file, which need not be there yet.
func NewKeyring(path string) *Keyring { return &Keyring{path: path} }

// EnsureKeyring makes the file with one key, mode 0600, if it is not there.
func EnsureKeyring(path string) (*Keyring, error) {
	r := NewKeyring(path)
	_, err := r.read()
	if errors.Is(err, fs.ErrNotExist) {
		_, err = EnsureClusterKey(path)
	}
	return r, err
}

// AddKey puts a new key on top of the file's, which are kept: what they have sealed can still be opened.
func AddKey(path string) (id string, err error) {
	keys, err := readKeys(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	key := NewClusterKey()
	var text strings.Builder
	for _, k := range append([]ClusterKey{key}, keys...) {
		text.WriteString(hex.EncodeToString(k.raw[:]) + "\n")
	}
	if err := writePrivate(path, []byte(text.String()), true); err != nil {
		return "", fmt.Errorf("secret key: %w", err)
	}
	return key.ID(), nil
}

// readKeys returns the keys of a file in their order.
func readKeys(path string) ([]ClusterKey, error) {
	text, err := readPrivate(path)
	if err != nil {
		return nil, err
	}
	var keys []ClusterKey
	for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		key, err := ParseClusterKey(line)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: not %d hex digits", path, n+1, 2*clusterKeyBytes)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// Seal encrypts secret by the first key, and returns that key's id, too. about must be the same when
// it is opened. ErrNoKeyring says that there is no key.
func (r *Keyring) Seal(secret, about []byte) (id string, sealed []byte, err error) {
	keys, err := r.read()
	if err != nil {
		return "", nil, err
	}
	sealed, err = keys[0].Seal(secret, about)
	return keys[0].ID(), sealed, err
}

// Open decrypts what the key of that id has sealed. ErrNoKeyring says that there is no key at all,
// ErrWrongKey that it is none of these, or that what was sealed belongs to something else, or is damaged.
func (r *Keyring) Open(id string, sealed, about []byte) ([]byte, error) {
	r.mu.Lock()
	key, known := r.keys[id]
	r.mu.Unlock()
	if !known {
		if _, err := r.read(); err != nil {
			return nil, err
		}
		r.mu.Lock()
		key, known = r.keys[id]
		r.mu.Unlock()
		if !known {
			return nil, fmt.Errorf("%w: key %s is not in %s", ErrWrongKey, id, r.path)
		}
	}
	return key.Open(sealed, about)
}

// read reads the file and remembers its keys.
func (r *Keyring) read() ([]ClusterKey, error) {
	keys, err := readKeys(r.path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoKeyring, err)
	}
	known := make(map[string]ClusterKey, len(keys))
	for _, k := range keys {
		known[k.ID()] = k
	}
	r.mu.Lock()
	r.keys = known
	r.mu.Unlock()
	return keys, nil
}
