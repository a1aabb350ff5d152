package runner

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
)

// framed is a message as it travels.
func framed(t testing.TB, m proto.Message) []byte {
	t.Helper()
	text, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
}

// rss is the memory of a process in KiB.
func rss(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
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

// Bad frames on the runner's socket are refused and counted, and cost its honest peer nothing.
func TestGarbageOnTheRunnersSocketIsRefusedAndCounted(t *testing.T) {
	t.Parallel()
	h := launch(t)
	h.start(shell(1, "while :; do sleep 0.02; done"))
	pid := h.born("m1").Pid
	before := rss(t, h.proc.Pid)

	secret, err := keptText(filepath.Join(h.dir, "runner.secret"))
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 64<<10)
	_, _ = rand.Read(noise) // it never fails
	binary.LittleEndian.PutUint32(noise, 60_000)
	quit := &Order{Attach: &Attach{Secret: "wrong"}, Quit: true, Stops: []*Stop{{Mark: "m1"}}}
	long := &Order{Attach: &Attach{Secret: secret, Incarnation: strings.Repeat("x", maxFirst)}}
	attacks := map[string][]byte{
		"nothing":                  {},
		"an http request":          []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"noise":                    noise,
		"a length of 5 GiB":        binary.LittleEndian.AppendUint64(nil, 5<<30),
		"a length of 4 GiB":        append(binary.LittleEndian.AppendUint32(nil, 1<<32-1), noise...),
		"a length without bytes":   binary.LittleEndian.AppendUint32(nil, maxFirst),
		"no secret":                framed(t, &Order{Quit: true, Stops: []*Stop{{Mark: "m1"}}}),
		"a wrong secret":           framed(t, quit),
		"a part of the secret":     framed(t, &Order{Attach: &Attach{Secret: secret[:len(secret)-1]}, Quit: true}),
		"the secret, and too long": framed(t, long),
	}
	const rounds = 5
	for range rounds {
		for name, attack := range attacks {
			if answer := h.attack(attack); len(answer) > 0 {
				t.Errorf("%s was answered %.40q", name, answer)
			}
		}
	}
	want := int64(rounds * len(attacks))
	for refused := int64(0); refused < want; {
		if n := h.next(); n.Refused > 0 {
			refused = n.Refused
		}
	}
	if after := rss(t, h.proc.Pid); after > before+64<<10 { // what was claimed is 5 GiB
		t.Errorf("the runner grew from %d to %d KiB", before, after)
	}
	if !alive(int(pid)) {
		t.Error("a stranger's order was obeyed")
	}
	h.start(shell(2, "exit 0"))
	if e := h.exit("m2"); e.State != "success" {
		t.Errorf("afterwards an attempt of the honest peer ends as %v", e)
	}
}

// attack sends bytes and returns what is answered until the runner hangs up.
func (h *harness) attack(text []byte) []byte {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	conn := h.knock(ctx)
	defer func() { _ = conn.Close() }()
	_, _ = conn.Write(text)               // the runner may have hung up already
	_ = conn.(*net.UnixConn).CloseWrite() // the same
	_ = conn.SetDeadline(time.Now().Add(deadline))
	answer, _ := io.ReadAll(conn) // what came before the end
	return answer
}

func (h *harness) knock(ctx context.Context) net.Conn {
	h.t.Helper()
	dir, err := os.Open(h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socketIn(dir))
	if err != nil {
		h.t.Fatal(err)
	}
	return conn
}

// One who has the secret and then talks nonsense is cut off, and counted, too.
func TestNonsenseAfterTheSecretEndsTheConnection(t *testing.T) {
	t.Parallel()
	h := launch(t)
	secret, err := keptText(filepath.Join(h.dir, "runner.secret"))
	if err != nil {
		t.Fatal(err)
	}
	hello := framed(t, &Order{Attach: &Attach{Secret: secret}})
	for name, nonsense := range map[string][]byte{
		"not to be decoded": append(binary.LittleEndian.AppendUint32(nil, 4), 0xff, 0xff, 0xff, 0xff),
		"too long":          binary.LittleEndian.AppendUint32(nil, maxFrame+1),
	} {
		h.attack(append(bytes.Clone(hello), nonsense...))
		<-h.ended // the other one is the control process of now
		h.cancel()
		if n := h.reconnected(); n == 0 {
			t.Errorf("%s was not counted", name)
		}
	}
}

// reconnected attaches anew and returns how many refusals are told.
func (h *harness) reconnected() (refused int64) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	c, err := Dial(ctx, h.dir, Attachment{Incarnation: "test"})
	if err != nil {
		h.t.Fatal(err)
	}
	run, stop := context.WithCancel(context.Background())
	h.client, h.cancel, h.news, h.ended = c, stop, make(chan *News, 10000), make(chan struct{})
	news, ended := h.news, h.ended
	go func() {
		defer close(ended)
		_ = c.Run(run, func(n *News) { news <- n })
	}()
	for refused == 0 {
		refused = h.next().Refused
	}
	return refused
}

// FuzzFrame holds the decoder of frames to: no panic, no more memory than the bytes that came and one step,
// and what it takes is what was sent.
func FuzzFrame(f *testing.F) {
	f.Add([]byte{})
	f.Add(binary.LittleEndian.AppendUint32(nil, 1<<32-1))
	f.Add(binary.LittleEndian.AppendUint32(nil, maxFrame))
	f.Add(append(binary.LittleEndian.AppendUint32(nil, 4), 0xff, 0xff, 0xff, 0xff))
	f.Add(framed(f, &Order{Attach: &Attach{Secret: "s", Incarnation: "i", Until: 1}, Quit: true}))
	f.Add(framed(f, &Order{Starts: []*Start{shell(1, "true")}, Stops: []*Stop{{Mark: "m"}}, Leases: []*Lease{{Until: -1}}}))
	f.Add(framed(f, &News{Attached: &Attached{}, Texts: []*Text{{Id: 1, Data: []byte("x")}}}))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, m := range []proto.Message{&Order{}, &News{}} {
			in := bytes.NewReader(text)
			buf, err := readFrame(in, nil, maxFrame, m)
			if cap(buf) > 2*(len(text)+frameStep) {
				t.Fatalf("%d bytes took %d of memory", len(text), cap(buf))
			}
			if err != nil {
				continue
			}
			again := proto.Clone(m)
			proto.Reset(again)
			if _, err := readFrame(bytes.NewReader(framed(t, m)), buf, maxFrame, again); err != nil || !proto.Equal(m, again) {
				t.Fatalf("%v became %v, %v", m, again, err)
			}
		}
	})
}

// FuzzLedger holds the reading of the runner's own journal to: no panic, whatever the entries are.
func FuzzLedger(f *testing.F) {
	for _, e := range []*Entry{
		{Accepted: &Accepted{Mark: "m", Attempt: &Attempt{InstanceId: 1}}}, {Born: &Born{Mark: "m", Pid: 1}}, {Exit: &Exit{Mark: "m"}}, {Forgotten: "m"}, {},
	} {
		text, err := proto.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		l := &ledger{live: map[string]*lifeline{}}
		for _, text := range [][]byte{one, two, one} {
			var e Entry
			if proto.Unmarshal(text, &e) == nil {
				l.apply(&e, int64(len(text)))
			}
		}
		if len(l.live) > 2 || l.bytes < 0 {
			t.Fatalf("two entries made %d lives of %d bytes", len(l.live), l.bytes)
		}
	})
}
