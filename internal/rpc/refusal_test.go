package rpc

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/porpoise/porpoise/registry"
)

// raw opens a TLS connection as a worker of the cluster, sends bytes and waits for the end.
func (s *site) raw(t *testing.T, text []byte) {
	t.Helper()
	config := certificate(t, s.ca, registry.Worker, "w1").ClientTLS(registry.Master)
	config.NextProtos = []string{"h2"}
	conn, err := tls.Dial("tcp", s.addr, config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()                                 // a test's connection
	conn.SetDeadline(time.Now().Add(10 * time.Second)) // a TCP connection takes it
	conn.Write(text)                                   // the server may have hung up already
	conn.CloseWrite()                                  // the same
	var late net.Error
	if _, err := io.Copy(io.Discard, conn); errors.As(err, &late) && late.Timeout() {
		t.Error("the server did not hang up")
	}
}

// A member of the cluster that talks nonsense is counted as a stranger is.
func TestNonsenseWithinTLSIsRefusedAndCounted(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	preface := "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	settings := "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	noise := make([]byte, 16<<10)
	rand.Read(noise) // it never fails
	noise[0] = 'x'
	for name, text := range map[string][]byte{
		"nothing":               {},
		"noise":                 noise,
		"http/1":                []byte("POST /porpoise.v1.Master/Work HTTP/1.1\r\nHost: x\r\n\r\n"),
		"half a preface":        []byte(preface[:10]),
		"no settings":           append([]byte(preface), noise...),
		"a frame of 16 MiB":     []byte(preface + settings + "\xff\xff\xff\x00\x00\x00\x00\x00\x01"),
		"data without a stream": []byte(preface + settings + "\x00\x00\x01\x00\x00\x00\x00\x00\x09x"),
		"a length of 5 GiB":     binary.BigEndian.AppendUint64(nil, 5<<30),
	} {
		s.raw(t, text)
		if r := s.nextRefusal(t); r.Kind != RefusedConnection || r.Addr == "" || r.Reason != "it ended without a call" {
			t.Errorf("%s: refusal %+v, want one of a connection", name, r)
		}
	}
	s.stillServes(t)
}

func TestMessagesThatCannotBeTakenAreCounted(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(context.Context, string) (string, error) { return "", ErrToken })
	conn := dial(t, s.addr, certificate(t, s.ca, registry.Worker, "w1"))
	for name, text := range map[string][]byte{
		"too large": append(binary.BigEndian.AppendUint32([]byte{0}, 1<<32-1), "short"...),
		"damaged":   append(binary.BigEndian.AppendUint32([]byte{0}, 4), 0xff, 0xff, 0xff, 0xff),
	} {
		s.post(t, Master_Work_FullMethodName, text)
		if r := s.nextRefusal(t); r.Kind != RefusedMessage || r.Peer != "porpoise://c-1/worker/w1" || r.Method != Master_Work_FullMethodName {
			t.Errorf("%s: refusal %+v, want one of a message", name, r)
		}
	}
	s.reached.Store(0) // the calls were theirs to make
	if err := conn.Invoke(deadline(t), "/porpoise.v1.Master/New", &JoinRequest{}, &JoinResponse{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("an unknown method = %v", err)
	}
	if r := s.nextRefusal(t); r.Kind != RefusedCaller {
		t.Errorf("an unknown method: refusal %+v, want one of a caller", r)
	}
	if _, err := NewMasterClient(conn).Join(deadline(t), &JoinRequest{Token: "wrong"}); err == nil {
		t.Error("joined with a wrong token")
	}
	if r := s.nextRefusal(t); r.Kind != RefusedMessage {
		t.Errorf("a wrong token: refusal %+v, want one of a message", r)
	}
	s.stillServes(t)
}

func TestRefusalsAreCountedByKind(t *testing.T) {
	t.Parallel()
	var c Refusals
	for i, k := range Kinds() {
		for range i + 1 {
			c.Count(Refusal{Kind: k})
		}
	}
	f, words := c.Figures(), map[string]bool{}
	for i, k := range Kinds() {
		if c.Of(k) != int64(i+1) || f.Refused(k) != int64(i+1) {
			t.Errorf("%d, %d refusals of kind %s, want %d", c.Of(k), f.Refused(k), k, i+1)
		}
		words[k.String()] = true
	}
	if len(words) != len(Kinds()) || words["unknown"] || strings.Contains(kinds.String(), "message") {
		t.Errorf("the kinds are called %v", words)
	}
}
