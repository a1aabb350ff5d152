package rpc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/porpoise/porpoise/registry"
)

func testLogger(out io.Writer) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Output: out, DisableTime: true})
}

// tokens is what the database does for join tokens: one use each.
type tokens struct {
	mu    sync.Mutex
	valid map[string]string // role by hash
	down  bool
	asked int
}

func (k *tokens) verify(_ context.Context, text string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked++
	token, err := ParseToken(text)
	if err != nil {
		return "", err
	}
	if k.down {
		return "", errors.New("database is away")
	}
	role, ok := k.valid[token.Hash()]
	if !ok {
		return "", ErrToken
	}
	delete(k.valid, token.Hash())
	return role, nil
}

func (k *tokens) add(ca *CA, role registry.Role) string {
	token := ca.NewToken()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.valid == nil {
		k.valid = map[string]string{}
	}
	k.valid[token.Hash()] = string(role)
	return token.Text()
}

func TestNewNodeJoinsAndWorks(t *testing.T) {
	t.Parallel()
	var k tokens
	s := newSite(t, k.verify)
	text := k.add(s.ca, registry.Worker)
	cert, err := Join(deadline(t), s.addr, text, "w1", registry.Worker)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := cert.Save(dir); err != nil {
		t.Fatal(err)
	}
	loaded, err := LoadCertificate(dir)
	if err != nil {
		t.Fatal(err)
	}
	if loaded.Identity != (Identity{testCluster, registry.Worker, "w1"}) || loaded.CAHash() != s.ca.Hash() {
		t.Errorf("joined as %s by %s", loaded.Identity, loaded.CAHash())
	}
	if who, err := work(deadline(t), dial(t, s.addr, loaded), nil); err != nil || who != "porpoise://c-1/worker/w1" {
		t.Errorf("Work after Join = %q, %v", who, err)
	}
	// The token was for one use.
	_, err = Join(deadline(t), s.addr, text, "w2", registry.Worker)
	if status.Code(err) != codes.PermissionDenied {
		t.Errorf("Join with a used token = %v, want PermissionDenied", err)
	}
}

func TestJoinRefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	var k tokens
	s := newSite(t, k.verify)
	good := k.add(s.ca, registry.Worker)
	ours, _ := ParseToken(good)
	foreign := testCA(t, testCluster).NewToken()
	mixed := Token{caHash: ours.caHash, secret: foreign.secret}
	csr := newCSR(t, nil)
	call := func(req *JoinRequest) error {
		conn, err := Dial(t.Context(), s.addr, credentials.NewTLS(ours.pinned()))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close() // a test's connection
		_, err = NewMasterClient(conn).Join(deadline(t), req)
		return err
	}
	for name, c := range map[string]struct {
		req  *JoinRequest
		want codes.Code
	}{
		"empty":               {&JoinRequest{}, codes.InvalidArgument},
		"no token":            {&JoinRequest{Node: "w1", Role: "worker", Csr: csr}, codes.PermissionDenied},
		"unknown token":       {&JoinRequest{Token: mixed.Text(), Node: "w1", Role: "worker", Csr: csr}, codes.PermissionDenied},
		"other cluster's":     {&JoinRequest{Token: foreign.Text(), Node: "w1", Role: "worker", Csr: csr}, codes.PermissionDenied},
		"changed token":       {&JoinRequest{Token: good[:len(good)-1], Node: "w1", Role: "worker", Csr: csr}, codes.PermissionDenied},
		"node with a slash":   {&JoinRequest{Token: good, Node: "w1/master", Role: "worker", Csr: csr}, codes.InvalidArgument},
		"node of dots":        {&JoinRequest{Token: good, Node: "..", Role: "worker", Csr: csr}, codes.InvalidArgument},
		"unknown role":        {&JoinRequest{Token: good, Node: "w1", Role: "king", Csr: csr}, codes.InvalidArgument},
		"no request":          {&JoinRequest{Token: good, Node: "w1", Role: "worker"}, codes.InvalidArgument},
		"garbage for request": {&JoinRequest{Token: good, Node: "w1", Role: "worker", Csr: []byte("x")}, codes.InvalidArgument},
		"long request":        {&JoinRequest{Token: good, Node: "w1", Role: "worker", Csr: make([]byte, maxCSRBytes+1)}, codes.InvalidArgument},
		"broken signature":    {&JoinRequest{Token: good, Node: "w1", Role: "worker", Csr: broken(csr)}, codes.InvalidArgument},
	} {
		if err := call(c.req); status.Code(err) != c.want {
			t.Errorf("%s: Join = %v, want %v", name, err, c.want)
		}
	}
	if k.asked != 1 { // only the unknown token looks like one of ours
		t.Errorf("the tokens were asked %d times, want once", k.asked)
	}
	k.down = true
	if err := call(&JoinRequest{Token: good, Node: "w1", Role: "worker", Csr: csr}); status.Code(err) != codes.Unavailable {
		t.Errorf("Join while the database is away = %v, want Unavailable", err)
	}
	k.down = false
	// None of this used the token up.
	if err := call(&JoinRequest{Token: good, Node: "w1", Role: "worker", Csr: csr}); err != nil {
		t.Errorf("Join with the good token = %v", err)
	}
	s.stillServes(t)
}

func TestTokenIsForItsRole(t *testing.T) {
	t.Parallel()
	var k tokens
	s := newSite(t, k.verify)
	_, err := Join(deadline(t), s.addr, k.add(s.ca, registry.Worker), "m2", registry.Master)
	if status.Code(err) != codes.PermissionDenied {
		t.Errorf("Join as master with a worker's token = %v, want PermissionDenied", err)
	}
}

func TestNamesInARequestAreIgnored(t *testing.T) {
	t.Parallel()
	var k tokens
	ca := testCA(t, testCluster)
	server := &JoinServer{CA: ca, VerifyToken: k.verify}
	king := Identity{Cluster: testCluster, Role: registry.Master, Node: "m1"}
	answer, err := server.Join(t.Context(), &JoinRequest{
		Token: k.add(ca, registry.Worker), Node: "w1", Role: "worker",
		Csr: newCSR(t, &x509.CertificateRequest{
			Subject: pkix.Name{CommonName: "m1"}, URIs: []*url.URL{king.url()}, DNSNames: []string{"master.example"},
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(answer.GetCertificate())
	if err != nil {
		t.Fatal(err)
	}
	id, err := identityOf(cert)
	if err != nil || id.Node != "w1" || id.Role != registry.Worker || len(cert.DNSNames) != 0 || cert.IsCA {
		t.Errorf("the certificate says %s, %v, names %v, authority %t", id, err, cert.DNSNames, cert.IsCA)
	}
	if life := time.Until(cert.NotAfter); life > nodeLife || life < nodeLife-time.Hour {
		t.Errorf("it lives %v, want a year", life)
	}
}

func TestMasterWithoutAuthorityGivesNoCertificates(t *testing.T) {
	t.Parallel()
	_, err := (&JoinServer{}).Join(t.Context(), &JoinRequest{})
	if status.Code(err) != codes.Unavailable {
		t.Errorf("Join = %v, want Unavailable", err)
	}
}

// A false master must not even see the token.
func TestJoinSendsNothingToAFalseMaster(t *testing.T) {
	t.Parallel()
	real := testCA(t, testCluster)
	var k tokens
	falseSite := newSite(t, k.verify)
	_, err := Join(deadline(t), falseSite.addr, real.NewToken().Text(), "w1", registry.Worker)
	if status.Code(err) != codes.Unavailable || k.asked != 0 {
		t.Errorf("Join with a false master = %v, want it to end before the call", err)
	}
	// One that shows the real authority's certificate, but has no key of its, is no better.
	borrowed := certificate(t, falseSite.ca, registry.Master, "m1")
	borrowed.pair.Certificate = [][]byte{borrowed.leaf.Raw, real.cert.Raw}
	err = real.NewToken().pinned().VerifyConnection(tls.ConnectionState{
		PeerCertificates: []*x509.Certificate{borrowed.leaf, real.cert},
	})
	if err == nil {
		t.Error("a borrowed authority was trusted")
	}
	// A worker of the real cluster is no master.
	worker := certificate(t, real, registry.Worker, "w1")
	err = real.NewToken().pinned().VerifyConnection(tls.ConnectionState{
		PeerCertificates: []*x509.Certificate{worker.leaf, real.cert},
	})
	if !errors.Is(err, ErrIdentity) {
		t.Errorf("a worker as master = %v, want ErrIdentity", err)
	}
}

func newCSR(t *testing.T, template *x509.CertificateRequest) []byte {
	t.Helper()
	if template == nil {
		template = &x509.CertificateRequest{}
	}
	der, err := x509.CreateCertificateRequest(nil, template, newKey(t))
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func broken(csr []byte) []byte {
	out := append([]byte(nil), csr...)
	out[len(out)-1] ^= 1
	return out
}

func TestTokensHaveOneSpelling(t *testing.T) {
	t.Parallel()
	token := testCA(t, testCluster).NewToken()
	text := token.Text()
	got, err := ParseToken(text)
	if err != nil || got != token {
		t.Fatalf("ParseToken(%q) = %v, %v", text, got, err)
	}
	if s := token.String(); strings.Contains(s, token.secret) || strings.Contains(s, text) {
		t.Errorf("String shows the secret: %s", s)
	}
	parts := strings.Split(text, ".")
	for _, bad := range []string{
		"", ".", "..", "pj1", "pj1..", "pj2." + parts[1] + "." + parts[2], text + ".", text + "=", text + "\n", " " + text,
		"pj1." + strings.ToUpper(parts[1]) + "." + parts[2], "pj1." + parts[1][:62] + "." + parts[2],
		"pj1." + parts[1] + "." + parts[2][:20], "pj1." + parts[1] + "." + parts[2][:10] + "\n" + parts[2][10:], "PJ1." + parts[1] + "." + parts[2],
	} {
		if _, err := ParseToken(bad); !errors.Is(err, ErrToken) {
			t.Errorf("ParseToken(%q) = %v, want ErrToken", bad, err)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	ca, err := NewCA(testCluster)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(ca.NewToken().Text())
	f.Add("pj1..")
	f.Add("pj1.00.AA\nAA")
	f.Fuzz(func(t *testing.T, text string) {
		token, err := ParseToken(text)
		if err == nil && token.Text() != text {
			t.Errorf("ParseToken(%q) spells itself %q", text, token.Text())
		}
		if err != nil && !errors.Is(err, ErrToken) {
			t.Errorf("ParseToken(%q) = %v, want ErrToken", text, err)
		}
	})
}
