package rpc

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/porpoise/porpoise/registry"
)

// Requirement A1 of the attack list, here and in the tests below: nothing but a
// certificate of this cluster with the right role reaches a handler.
func TestGarbageOnTheWireReachesNoHandler(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	preface := "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	fiveGiB := binary.BigEndian.AppendUint64(nil, 5<<30)
	noise := make([]byte, 64<<10)
	rand.Read(noise) // it never fails
	for name, payload := range map[string][]byte{
		"http":         []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"plain h2":     []byte(preface),
		"noise":        noise,
		"zeros":        make([]byte, 64<<10),
		"long prefix":  append(fiveGiB, "whatever"...),
		"tls 5 GiB":    append([]byte{0x16, 0x03, 0x01}, fiveGiB...),
		"client hello": {0x16, 0x03, 0x01, 0xff, 0xff, 0x01},
	} {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(10 * time.Second)) // a TCP connection takes it
		conn.Write(payload)                                // the server may have hung up already
		conn.(*net.TCPConn).CloseWrite()                   // the server may have hung up already
		answer, _ := io.ReadAll(conn)
		if len(answer) > 0 && answer[0] != 0x15 && answer[0] != 0x16 { // a TLS alert or hello
			t.Errorf("%s was answered %.40q", name, answer)
		}
		conn.Close() // a test's connection
		if r := s.nextRefusal(t); r.Method != "" || r.Addr == "" {
			t.Errorf("%s: refusal %+v, want one of a connection", name, r)
		}
	}
	s.stillServes(t)
}

func TestPlainTextIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	conn, err := grpc.NewClient(s.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() // a test's connection
	if _, err := work(deadline(t), conn, nil); status.Code(err) != codes.Unavailable {
		t.Errorf("Work in plain text = %v, want Unavailable", err)
	}
	s.stillServes(t)
}

// TestStrangersAreRefused tries TLS clients with every wrong certificate.
func TestStrangersAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	elsewhere := testCA(t, testCluster) // same name, other key
	sameKey := *s.ca
	sameKey.Cluster = "c-2" // our authority's signature over another cluster's identity
	worker := Identity{Cluster: testCluster, Role: registry.Worker, Node: "w1"}
	other := Identity{Cluster: "c-2", Role: registry.Worker, Node: "w1"}
	now := time.Now()
	anonymous := func(c *tls.Config) { c.GetClientCertificate = nil }

	for name, attack := range map[string]struct {
		pair   tls.Certificate
		change func(*tls.Config)
		want   codes.Code
	}{
		"no certificate":                {change: anonymous, want: codes.Unauthenticated},
		"authority of the same name":    {pair: pairOf(t, elsewhere, worker, now)},
		"other cluster":                 {pair: pairOf(t, &sameKey, other, now)},
		"expired":                       {pair: pairOf(t, s.ca, worker, now.Add(-nodeLife-time.Second))},
		"not yet valid":                 {pair: pairOf(t, s.ca, worker, now.Add(backdate+time.Minute))},
		"self-signed":                   {pair: selfSigned(t, worker)},
		"the authority's own, no key":   {pair: tls.Certificate{Certificate: [][]byte{s.ca.cert.Raw}, PrivateKey: newKey(t)}},
		"another's certificate, no key": {pair: tls.Certificate{Certificate: pairOf(t, s.ca, worker, now).Certificate, PrivateKey: newKey(t)}},
		"TLS 1.2":                       {pair: pairOf(t, s.ca, worker, now), change: func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 }},
		"two identities":                {pair: twoIdentities(t, s.ca)},
	} {
		config := &tls.Config{
			InsecureSkipVerify: true, //nolint:gosec // the attacker doesn't care
			// Unlike Certificates, it is shown whatever authorities the server asks for.
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &attack.pair, nil },
		}
		if attack.change != nil {
			attack.change(config)
		}
		if attack.want == codes.OK {
			attack.want = codes.Unavailable // the handshake fails
		}
		for method, call := range map[string]func(context.Context, grpc.ClientConnInterface) error{
			"Work":  func(ctx context.Context, c grpc.ClientConnInterface) error { _, err := work(ctx, c, nil); return err },
			"Watch": watch,
			"Serve": serve,
		} {
			conn, err := Dial(t.Context(), s.addr, credentials.NewTLS(config.Clone()))
			if err != nil {
				t.Fatal(err)
			}
			if err := call(deadline(t), conn); status.Code(err) != attack.want {
				t.Errorf("%s with %s = %v, want %v", method, name, err, attack.want)
			}
			conn.Close() // a test's connection
			s.nextRefusal(t)
		}
	}
	s.stillServes(t)
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func pairOf(t *testing.T, ca *CA, id Identity, now time.Time) tls.Certificate {
	t.Helper()
	key := newKey(t)
	der, err := ca.issue(id, key.Public(), nil, now)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func selfSigned(t *testing.T, id Identity) tls.Certificate {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{SerialNumber: serial(), NotAfter: time.Now().Add(time.Hour)}
	template.URIs = append(template.URIs, id.url())
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func twoIdentities(t *testing.T, ca *CA) tls.Certificate {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: serial(), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, role := range registry.Roles() {
		template.URIs = append(template.URIs, Identity{Cluster: ca.Cluster, Role: role, Node: "n"}.url())
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, key.Public(), ca.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestNodeCertificateSignsNobody(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	issuer := certificate(t, s.ca, registry.Worker, "w1")
	forger := &CA{Cluster: testCluster, cert: issuer.leaf, key: issuer.pair.PrivateKey.(*ecdsa.PrivateKey)}
	forged := pairOf(t, forger, Identity{Cluster: testCluster, Role: registry.APIServer, Node: "a1"}, time.Now())
	forged.Certificate = append(forged.Certificate, issuer.leaf.Raw)
	conn, err := Dial(t.Context(), s.addr, credentials.NewTLS(&tls.Config{
		InsecureSkipVerify: true, Certificates: []tls.Certificate{forged}, //nolint:gosec // the attacker doesn't care
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() // a test's connection
	if err := watch(deadline(t), conn); status.Code(err) != codes.Unavailable {
		t.Errorf("Watch with a forged certificate = %v", err)
	}
	s.stillServes(t)
}

func TestLargeMessagesAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	conn := dial(t, s.addr, certificate(t, s.ca, registry.Worker, "w1"))
	big := &Hello{Worker: strings.Repeat("x", MaxMessageBytes+1)}
	if _, err := work(deadline(t), conn, big); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("Work with a message above the limit = %v, want ResourceExhausted by our own side", err)
	}
	// An attacker has no such limit on its side, and announces more than it sends.
	got := s.post(t, Master_Join_FullMethodName, append(binary.BigEndian.AppendUint32([]byte{0}, 1<<32-1), "short"...))
	if want := fmt.Sprint(int(codes.ResourceExhausted)); got != want {
		t.Errorf("a message of 4 GiB was answered with status %q, want %s", got, want)
	}
	s.reached.Store(0) // our own Work call reached its handler, and failed there
	s.stillServes(t)
}

// post makes a call of bytes as a worker, and gives the status that it is answered with.
func (s *site) post(t *testing.T, method string, text []byte) (status string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   certificate(t, s.ca, registry.Worker, "w1").ClientTLS(registry.Master),
	}}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(deadline(t), http.MethodPost, "https://"+s.addr+method, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("Te", "trailers")
	answer, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, answer.Body) // only the trailer matters
	answer.Body.Close()              // it was read
	if got := answer.Trailer.Get("Grpc-Status"); got != "" {
		return got
	}
	return answer.Header.Get("Grpc-Status")
}

func TestUnknownMethodsAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	conn := dial(t, s.addr, certificate(t, s.ca, registry.Worker, "w1"))
	for _, method := range []string{"/porpoise.v1.Master/work", "/porpoise.v1.Master/", "/porpoise.v1.Master/Work/", "//porpoise.v1.Master/Work", "/x"} {
		err := conn.Invoke(deadline(t), method, &JoinRequest{}, &JoinResponse{})
		if code := status.Code(err); code != codes.Unimplemented {
			t.Errorf("%s = %v, want Unimplemented", method, err)
		}
	}
	g := &guard{log: testLogger(io.Discard), logged: map[string]time.Time{}}
	if err := g.check(t.Context(), "/porpoise.v1.Master/New"); status.Code(err) != codes.Unauthenticated {
		t.Errorf("an undeclared method without a peer = %v", err)
	}
	s.stillServes(t)
}

// Requirement F22: what answers on a master's address must be a master of ours.
func TestClientsRefuseFalseServers(t *testing.T) {
	t.Parallel()
	ours := testCA(t, testCluster)
	worker := certificate(t, ours, registry.Worker, "w1")
	for name, falseServer := range map[string]*Certificate{
		"worker of ours":    certificate(t, ours, registry.Worker, "w2"),
		"apiserver of ours": certificate(t, ours, registry.APIServer, "a1"),
		"another's master":  certificate(t, testCA(t, testCluster), registry.Master, "m1"),
	} {
		server, err := NewServer(ServerConfig{Certificate: falseServer})
		if err != nil {
			t.Fatal(err)
		}
		s := &site{ca: ours}
		RegisterMasterServer(server, master{JoinServer: &JoinServer{}, site: s})
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var served sync.WaitGroup
		served.Go(func() { server.Serve(listener) }) // it ends by Stop
		conn := dial(t, listener.Addr().String(), worker)
		if _, err := work(deadline(t), conn, nil); status.Code(err) != codes.Unavailable {
			t.Errorf("Work on a %s = %v, want Unavailable", name, err)
		}
		if n := s.reached.Load(); n != 0 {
			t.Errorf("a %s was spoken to", name)
		}
		server.Stop()
		served.Wait()
	}
}

func TestExpiryEndsRightsOfAnOpenConnection(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	key := newKey(t)
	worker := Identity{Cluster: testCluster, Role: registry.Worker, Node: "w1"}
	der, err := s.ca.issue(worker, key.Public(), nil, time.Now().Add(time.Second-nodeLife))
	if err != nil {
		t.Fatal(err)
	}
	cert, err := newCertificate(der, s.ca.cert.Raw, key)
	if err != nil {
		t.Fatal(err)
	}
	conn := dial(t, s.addr, cert)
	end := deadline(t)
	for calls := 0; ; calls++ {
		_, err := work(end, conn, nil)
		if err == nil {
			continue
		}
		if calls == 0 || status.Code(err) != codes.Unauthenticated {
			t.Errorf("call %d with a certificate that runs out = %v, want Unauthenticated", calls, err)
		}
		break
	}
	s.reached.Store(0)
	s.stillServes(t)
}

func TestRefusalsAreLoggedOncePerPeer(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	var told int
	g := &guard{log: testLogger(&out), onRefused: func(Refusal) { told++ }, logged: map[string]time.Time{}}
	for port := range 5 {
		g.refuse(Refusal{Addr: fmt.Sprintf("10.0.0.1:%d", port), Reason: "first"})
	}
	g.refuse(Refusal{Addr: "10.0.0.2:1", Reason: "second"})
	g.refuse(Refusal{Addr: "pipe", Reason: "third"})
	if lines := strings.Count(out.String(), "\n"); lines != 3 || told != 7 {
		t.Errorf("7 refusals of 3 peers: told %d, logged %d:\n%s", told, lines, out.String())
	}
	for i := range 3 * refusalPeers {
		g.refuse(Refusal{Addr: fmt.Sprintf("10.%d.%d.1:1", i/256, i%256)})
	}
	if len(g.logged) > refusalPeers {
		t.Errorf("%d peers are remembered, the limit is %d", len(g.logged), refusalPeers)
	}
}

func TestServerNeedsACertificate(t *testing.T) {
	t.Parallel()
	if _, err := NewServer(ServerConfig{}); err == nil {
		t.Error("a server without a certificate was made")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Dial(ctx, "x:1", insecure.NewCredentials()); !errors.Is(err, context.Canceled) {
		t.Errorf("Dial with an ended context = %v", err)
	}
}
