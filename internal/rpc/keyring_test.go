package rpc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAKeyIsReplacedWhileSecretsStayOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret-key")
	ring, err := EnsureKeyring(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the key file: %v, %v", info, err)
	}
	about := []byte("project 1 db")
	first, sealed, err := ring.Seal([]byte("canary"), about)
	if err != nil || strings.Contains(string(sealed), "canary") {
		t.Fatalf("sealed %q, %v", sealed, err)
	}
	second, err := AddKey(path)
	if err != nil || second == first {
		t.Fatalf("the new key is %s, %v", second, err)
	}
	if id, _, err := ring.Seal([]byte("x"), about); err != nil || id != second {
		t.Errorf("sealed by %s, %v, want the new key %s", id, err, second)
	}
	other := NewKeyring(path) // of another process
	for _, r := range []*Keyring{ring, other} {
		if value, err := r.Open(first, sealed, about); err != nil || string(value) != "canary" {
			t.Errorf("opened %q, %v", value, err)
		}
		if _, err := r.Open(first, sealed, []byte("project 2 db")); !errors.Is(err, ErrWrongKey) {
			t.Errorf("opened for something else: %v", err)
		}
	}
	if again, err := EnsureKeyring(path); err != nil {
		t.Errorf("two keys are no key file: %v", err)
	} else if _, err := again.Open(first, sealed, about); err != nil {
		t.Error(err)
	}
	// The older key is deleted from the file.
	text, _ := os.ReadFile(path)
	if err := os.WriteFile(path, text[:65], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewKeyring(path).Open(first, sealed, about); !errors.Is(err, ErrWrongKey) || !strings.Contains(err.Error(), first) {
		t.Errorf("opened without its key: %v", err)
	}
}

func TestAKeyFileThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, _, err := NewKeyring(filepath.Join(dir, "none")).Seal(nil, nil); !errors.Is(err, ErrNoKeyring) {
		t.Errorf("without a file: %v", err)
	}
	good := strings.Repeat("ab", 32)
	for text, want := range map[string]string{"": "line 1", good + "\nshort\n": "line 2", good + good: "line 1"} {
		path := filepath.Join(dir, "bad")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := EnsureKeyring(path); !errors.Is(err, ErrNoKeyring) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), good) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if _, err := AddKey(path); err == nil {
			t.Errorf("a key was added to %q", text)
		}
	}
	open := filepath.Join(dir, "open")
	if err := os.WriteFile(open, []byte(good+"\n"), 0o644); err != nil { //nolint:gosec // that is the mistake
		t.Fatal(err)
	}
	if _, err := EnsureKeyring(open); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that all can read: %v", err)
	}
}
