package runner

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"
)

const (
	// maxFrame bounds one frame: several dispatches of 4 MiB each may travel together.
	maxFrame = 64 << 20
	// maxFirst bounds the frame that shows the secret, since anybody might send it.
	maxFirst = 1 << 20
	// frameStep is how much room a frame gets before its bytes are there: a length alone costs no more.
	frameStep = 1 << 20
)

var (
	errFrame  = errors.New("frame is too long")
	errDecode = errors.New("decode frame")
)

// readFrame reads one message of at most limit bytes; buf is reused.
func readFrame(in io.Reader, buf []byte, limit int, m proto.Message) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return buf, fmt.Errorf("read frame: %w", err)
	}
	n := int64(binary.LittleEndian.Uint32(head[:]))
	if n > int64(limit) {
		return buf, fmt.Errorf("%w: %d bytes, the limit is %d", errFrame, n, limit)
	}
	buf = buf[:0]
	for int64(len(buf)) < n {
		have, step := len(buf), int(min(n-int64(len(buf)), frameStep))
		buf = slices.Grow(buf, step)[:have+step]
		if _, err := io.ReadFull(in, buf[have:]); err != nil {
			return buf[:have], fmt.Errorf("read frame: %w", err)
		}
	}
	if err := proto.Unmarshal(buf, m); err != nil {
		return buf, fmt.Errorf("%w: %w", errDecode, err)
	}
	return buf, nil
}

// pipe sends messages of one kind on a connection: what is added while a write is under
// way goes out together with the next one. Its bound is the number of slots and readers
// that can have something to say.
type pipe struct {
	conn net.Conn
	wake chan struct{}

	mu   sync.Mutex // guards next
	next proto.Message
}

func newPipe(conn net.Conn) *pipe {
	return &pipe{conn: conn, wake: make(chan struct{}, 1)}
}

// add merges m into what is sent next; m is not to be touched after.
func (p *pipe) add(m proto.Message) {
	p.mu.Lock()
	if p.next == nil {
		p.next = m
	} else {
		// The parts are repeated fields: merging appends the pointers' copies. A message
		// is merged only while an earlier one waits for a slow write.
		proto.Merge(p.next, m)
	}
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run writes until the connection fails, or done is closed and what was added is out.
func (p *pipe) run(done <-chan struct{}) error {
	var buf []byte
	for last := false; !last; {
		select {
		case <-done:
			last = true
		case <-p.wake:
		}
		p.mu.Lock()
		m := p.next
		p.next = nil
		p.mu.Unlock()
		if m == nil {
			continue
		}
		var err error
		buf = append(buf[:0], 0, 0, 0, 0)
		if buf, err = (proto.MarshalOptions{}).MarshalAppend(buf, m); err != nil {
			return fmt.Errorf("encode frame: %w", err)
		}
		binary.LittleEndian.PutUint32(buf, uint32(len(buf)-4))
		if _, err := p.conn.Write(buf); err != nil {
			return fmt.Errorf("write frame: %w", err)
		}
		if cap(buf) > 4<<20 {
			buf = nil
		}
	}
	return nil
}
