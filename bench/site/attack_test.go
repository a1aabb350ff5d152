package site

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	wire "encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/registry"
)

// attacker knows where a master is, and has the certificates that one may come by.
type attacker struct {
	*testing.T
	ctx                context.Context //nolint:containedctx // of the test that it is
	master             string
	insider, foreigner *rpc.Certificate
}

// bytes sends bytes on a connection and waits until the master has hung up.
func (a *attacker) bytes(conn net.Conn, text []byte) {
	a.Helper()
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = conn.Write(text) // it may have hung up already
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	_, _ = io.Copy(io.Discard, conn)
}

func (a *attacker) plain(text []byte) {
	a.Helper()
	conn, err := (&net.Dialer{}).DialContext(a.ctx, "tcp", a.master)
	if err != nil {
		a.Fatal(err)
	}
	a.bytes(conn, text)
}

// within sends bytes within TLS, as a worker of the cluster.
func (a *attacker) within(text []byte) {
	a.Helper()
	config := a.insider.ClientTLS(registry.Master)
	config.NextProtos = []string{"h2"}
	conn, err := (&tls.Dialer{Config: config}).DialContext(a.ctx, "tcp", a.master)
	if err != nil {
		a.Fatal(err)
	}
	a.bytes(conn, text)
}

// call opens a worker's stream and says something on it.
func (a *attacker) call(config *tls.Config, message *rpc.WorkerMessage) {
	a.Helper()
	conn, err := rpc.Dial(a.ctx, a.master, credentials.NewTLS(config))
	if err != nil {
		a.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	stream, err := rpc.NewMasterClient(conn).Work(a.ctx)
	if err == nil {
		_ = stream.Send(message)
		_, err = stream.Recv()
	}
	if err == nil {
		a.Errorf("a stranger's %v was answered", message)
	}
}

// counted reads what the master says that it has turned away.
func counted(t *testing.T, o *own, s *Site, kind string) int {
	t.Helper()
	code, text := o.getAs(strings.TrimPrefix(s.URL, "http://"), "/metrics", s.Token)
	if code != 200 {
		t.Fatalf("/metrics = %d", code)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, `porpoise_rpc_refused_total{kind="`+kind+`"`) && strings.Contains(line, `role="master"`) {
			n, err := strconv.Atoi(strings.TrimSpace(line[strings.LastIndexByte(line, ' '):]))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	return 0
}

// memory is what a process has in RAM, in KiB.
func memory(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Bad input on a real master's port is refused and counted, takes no memory, and its honest peers do not notice.
func TestGarbageAtAMastersPortCostsNothing(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	port, err := FreeAddress(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s := standalone(ctx, t, "--rpc", port)
	o := &own{T: t, ctx: ctx, site: s}
	a := newAttacker(ctx, t, s, port)

	preface := "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	noise := make([]byte, 64<<10)
	_, _ = rand.Read(noise) // it never fails
	fiveGiB := wire.BigEndian.AppendUint64(nil, 5<<30)
	anonymous := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the attacker doesn't care
	foreign := a.foreigner.ClientTLS(registry.Master)
	foreign.VerifyConnection = nil
	connections := []func(){
		func() { a.plain(noise) },
		func() { a.plain([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")) },
		func() { a.plain(append(bytes.Clone(fiveGiB), noise...)) },
		func() { a.plain(append([]byte{0x16, 3, 1}, fiveGiB...)) },
		func() { a.within(noise) },
		func() { a.within(append([]byte(preface), noise...)) },
		func() { a.within(fiveGiB) },
	}
	callers := []func(){func() { a.call(anonymous, &rpc.WorkerMessage{Hello: &rpc.Hello{Worker: "w", Incarnation: "1"}}) }}
	messages := []func(){
		func() { a.call(a.insider.ClientTLS(registry.Master), &rpc.WorkerMessage{Ask: 7}) },
		func() {
			a.call(a.insider.ClientTLS(registry.Master), &rpc.WorkerMessage{Hello: &rpc.Hello{Worker: "another", Incarnation: "1"}})
		},
		func() {
			a.call(a.insider.ClientTLS(registry.Master), &rpc.WorkerMessage{Hello: &rpc.Hello{Worker: "insider"}})
		},
	}
	foreigners := func() { a.call(foreign, &rpc.WorkerMessage{Hello: &rpc.Hello{Worker: "w", Incarnation: "1"}}) }

	save(ctx, t, s.Client, "gated", gated)
	w := begin(ctx, t, s)
	round := func() {
		for _, list := range [][]func(){connections, callers, messages} {
			for _, attack := range list {
				attack()
			}
		}
		foreigners()
	}
	round() // what grows once is there
	pid := s.Part("standalone").PID
	before := memory(t, pid)
	const rounds = 15
	for range rounds {
		round()
	}
	if after := memory(t, pid); after > before+32<<10 {
		t.Errorf("%d rounds took the node from %d to %d KiB", rounds, before, after)
	}
	w.open(t)
	if in, err := w.Wait(ctx, w.id, nil); err != nil || in.State != dag.InstanceSuccess {
		t.Errorf("the run that went on meanwhile is %s, %v", in.State, err)
	}
	for kind, want := range map[string]int{
		"connection": (rounds + 1) * (len(connections) + 1), "caller": (rounds + 1) * len(callers), "message": (rounds + 1) * len(messages),
	} {
		err := s.Until(ctx, "refusals of kind "+kind+" are counted", func() error {
			if n := counted(t, o, s, kind); n < want {
				return fmt.Errorf("%d, want %d", n, want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if nodes, err := s.Client.Workers(ctx); err != nil || len(nodes) != 1 {
		t.Errorf("workers %v, %v; want the node's own", nodes, err)
	}
}

// newAttacker joins as a worker whose disk has then been stolen, and makes a cluster of its own.
func newAttacker(ctx context.Context, t *testing.T, s *Site, master string) *attacker {
	t.Helper()
	a := &attacker{T: t, ctx: ctx, master: master}
	code, token, errs := finish(t, porpoise(ctx, s, "token", "join", "worker"))
	if code != 0 {
		t.Fatalf("token join = %d %s", code, errs)
	}
	var err error
	if a.insider, err = rpc.Join(ctx, master, strings.TrimSpace(token), "insider", registry.Worker); err != nil {
		t.Fatal(err)
	}
	elsewhere, err := rpc.NewCA(a.insider.Identity.Cluster) // it may well claim our name
	if err == nil {
		a.foreigner, err = elsewhere.NewCertificate(registry.Worker, "w")
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}
