package rpc

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/porpoise/porpoise/registry"
)

func FuzzParseIdentity(f *testing.F) {
	for _, seed := range []string{
		"porpoise://c-1/worker/w1", "porpoise://c-1/worker/..", "porpoise://c-1/king/w1", "porpoise://c-1/worker/w1/x",
		"porpoise://u:p@c-1/worker/w1", "porpoise://c-1:80/worker/w1", "porpoise://c-1/worker/w1?x", "porpoise://c-1/worker/w%31", "PORPOISE://c/worker/w",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := ParseIdentity(text)
		if err != nil {
			if !errors.Is(err, ErrIdentity) {
				t.Errorf("ParseIdentity(%q) = %v, want ErrIdentity", text, err)
			}
			return
		}
		if id.String() != text || id.url().String() != text || id.Check() != nil {
			t.Errorf("ParseIdentity(%q) = %+v, which spells itself %q", text, id, id.url())
		}
	})
}

func TestIdentitiesHaveOneSpelling(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "porpoise://", "porpoise://c", "porpoise://c/worker", "porpoise://c/worker/", "porpoise:///worker/w", "porpoise://c//w",
		"porpoise://c/worker/w/", "porpoise://c/worker/w#x", "porpoise://c/Worker/w", "https://c/worker/w", "porpoise://c/worker/w\n",
		"porpoise://c/worker/" + strings.Repeat("x", 129), "porpoise://../worker/w", "porpoise://c:1/worker/w",
	} {
		if id, err := ParseIdentity(bad); !errors.Is(err, ErrIdentity) {
			t.Errorf("ParseIdentity(%q) = %+v, %v, want ErrIdentity", bad, id, err)
		}
	}
}

func TestAuthorityIssuesForItsClusterOnly(t *testing.T) {
	t.Parallel()
	ca := testCA(t, testCluster)
	public := newKey(t).Public()
	for _, id := range []Identity{
		{}, {"c-2", registry.Worker, "w"}, {testCluster, "king", "w"}, {testCluster, registry.Worker, "a/b"}, {testCluster, registry.Worker, ""},
	} {
		if _, err := ca.Issue(id, public, nil); !errors.Is(err, ErrIdentity) {
			t.Errorf("Issue(%+v) = %v, want ErrIdentity", id, err)
		}
	}
	weak, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ca.Issue(Identity{testCluster, registry.Worker, "w"}, weak.Public(), nil); err == nil {
		t.Error("a key of a kind that is not taken was signed")
	}
	if _, err := NewCA("a/b"); err == nil {
		t.Error("an authority for a cluster id with a slash was made")
	}
}

func TestCertificateCarriesItsHosts(t *testing.T) {
	t.Parallel()
	cert, err := testCA(t, testCluster).NewCertificate(registry.Master, "m1", "db.example", "10.0.0.1", "::1")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(cert.leaf.DNSNames, cert.leaf.IPAddresses); got != "[db.example] [10.0.0.1 ::1]" {
		t.Errorf("hosts are %s", got)
	}
}

func TestAuthorityIsSealedByTheClusterKey(t *testing.T) {
	t.Parallel()
	ca, key := testCA(t, testCluster), NewClusterKey()
	cert, sealed, err := ca.Seal(key)
	if err != nil {
		t.Fatal(err)
	}
	again, err := LoadCA(cert, sealed, key)
	if err != nil || again.Cluster != testCluster || again.Hash() != ca.Hash() {
		t.Fatalf("LoadCA = %+v, %v", again, err)
	}
	if _, err := again.NewCertificate(registry.Worker, "w1"); err != nil {
		t.Errorf("the loaded authority issues nothing: %v", err)
	}
	if _, err := LoadCA(cert, sealed, NewClusterKey()); !errors.Is(err, ErrWrongKey) || !strings.Contains(err.Error(), key.ID()) {
		t.Errorf("LoadCA with another key = %v, want ErrWrongKey that names %s", err, key.ID())
	}
	other, _, err := testCA(t, testCluster).Seal(key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := LoadCA(other, sealed, key); !errors.Is(err, ErrWrongKey) {
		t.Errorf("LoadCA with another certificate = %v, want ErrWrongKey", err)
	}
	for i := range sealed {
		damaged := bytes.Clone(sealed)
		damaged[i] ^= 1
		if _, err := LoadCA(cert, damaged, key); !errors.Is(err, ErrWrongKey) {
			t.Fatalf("LoadCA with byte %d changed = %v, want ErrWrongKey", i, err)
		}
		if _, err := LoadCA(cert, sealed[:i], key); !errors.Is(err, ErrWrongKey) {
			t.Fatalf("LoadCA of %d bytes = %v, want ErrWrongKey", i, err)
		}
	}
}

func TestClusterKeyStaysSecret(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	var wg sync.WaitGroup
	keys := make([]ClusterKey, 4)
	for i := range keys {
		wg.Go(func() {
			var err error
			if keys[i], err = EnsureClusterKey(path); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, k := range keys {
		if k != keys[0] {
			t.Error("processes that start together have different keys")
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.TrimSpace(string(text))
	for _, shown := range []string{fmt.Sprint(keys[0]), fmt.Sprintf("%+v", keys[0]), fmt.Sprintf("%#v", keys[0]), keys[0].ID()} {
		if strings.Contains(shown, secret) || strings.Contains(shown, "raw") {
			t.Errorf("the key prints as %s", shown)
		}
	}
	if k, err := ParseClusterKey(string(text)); err != nil || k != keys[0] {
		t.Errorf("ParseClusterKey = %v, %v", k, err)
	}
	for _, bad := range []string{"", "00", secret + "00", strings.Repeat("g", 64)} {
		if _, err := ParseClusterKey(bad); err == nil {
			t.Errorf("ParseClusterKey(%q) took it", bad)
		}
	}
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o660} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := EnsureClusterKey(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("a key file of mode %o = %v, want it refused", mode, err)
		}
	}
	if names, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

func TestSavedCertificateIsPrivateAndWhole(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tls")
	if _, err := LoadCertificate(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("LoadCertificate of nothing = %v, want fs.ErrNotExist", err)
	}
	ca := testCA(t, testCluster)
	for range 2 {
		if err := certificate(t, ca, registry.Worker, "w1").Save(dir); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, NodeFile)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s is %v, %v, want mode 0600", path, info.Mode(), err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadCertificate(dir); err == nil {
		t.Error("a certificate whose key others can read was loaded")
	}
	if err := os.WriteFile(path, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	os.Chmod(path, 0o600) // the next line tells
	if _, err := LoadCertificate(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a broken certificate = %v, want an error that is not absence", err)
	}
}

func TestCertificateIsDueInItsLastThird(t *testing.T) {
	t.Parallel()
	cert := certificate(t, testCA(t, testCluster), registry.Worker, "w1")
	if cert.Due(time.Now()) || cert.Due(time.Now().Add(nodeLife/2)) {
		t.Error("due too early")
	}
	if !cert.Due(time.Now().Add(nodeLife*3/4)) || !cert.Due(time.Now().Add(2*nodeLife)) {
		t.Error("not due in its last third")
	}
}

func TestWhoHasNoIdentityIsUnauthenticated(t *testing.T) {
	t.Parallel()
	_, err := Peer(t.Context())
	if status.Code(err) != codes.Unauthenticated {
		t.Errorf("the status of %v is %s", err, status.Code(err))
	}
}
