package tasklog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

const (
	// spillBytes is the output from which an attempt gets pieces of its own.
	spillBytes = 64 << 10
	// spillAfter is the age from which output is put where a crash of the runner leaves it.
	spillAfter = time.Second
	// flushBytes is how much of a spilled log waits for one write.
	flushBytes = 32 << 10
	// pieceBytes is the payload of a piece; the oldest piece of the tail goes as a whole.
	pieceBytes = 4 << 20
	// headPieces and tailPieces are kept: 16 MiB, and 48 MiB beside the piece in the making.
	headPieces = 4
	tailPieces = 12
	// TailBytes is the end of the output that an attempt's finish carries.
	TailBytes = 2 << 10

	frameHead = 5
	// A piece begins with where it stands in the output: bytes, then line ends, of each stream.
	pieceHead  = 40
	pieceMagic = 0x32_65_63_65_69_70_70_70 // "pppiece2", little endian
)

// Stream is one of the outputs of an attempt.
type Stream uint8

// The streams. Both is for reading: the two as they came.
const (
	Stdout Stream = iota
	Stderr
	Both
)

// Key names an attempt.
type Key struct {
	Instance     int64
	Task, Number int32
}

func (k Key) folder() string {
	return strconv.FormatInt(k.Instance, 10) + "-" + strconv.Itoa(int(k.Task)) + "-" + strconv.Itoa(int(k.Number))
}

// point is a place in the output: what has gone by before it, of each stream.
type point struct {
	bytes, lines [2]int64 // a line is counted at its end
}

// of is the number of bytes of s before the point.
func (p point) of(s Stream) int64 { return sum(p.bytes, s) }

// linesOf is the number of line ends of s before the point.
func (p point) linesOf(s Stream) int64 { return sum(p.lines, s) }

func sum(n [2]int64, s Stream) int64 {
	if s == Both {
		return n[0] + n[1]
	}
	return n[s]
}

// pass moves the point over data.
func (p *point) pass(s Stream, data []byte) {
	p.bytes[s] += int64(len(data))
	p.lines[s] += int64(bytes.Count(data, newline))
}

var newline = []byte{'\n'}

// Log is the output of an attempt that still runs. Write, Age and Close are for one
// goroutine at a time; readers come through Store.Read.
type Log struct {
	store *Store
	key   Key
	born  time.Time

	mu     sync.Mutex // guards what follows against readers; held over a piece's write, which only they wait for
	buf    []byte     // frames that are in no piece
	start  point      // at the beginning of buf
	end    point
	last   int // where the last frame in buf begins, -1 for none
	pieces []piece
	hole   [2]point // what was dropped between head and tail
	file   *os.File // the last piece
	broken error    // the disk refused: further output is counted, not kept
	tail   []byte   // of what is not in buf any more
}

// piece is one file of a spilled log, or the whole frames of a short one.
type piece struct {
	number int
	start  point
	frames []byte // nil: in the file
	old    bool   // the file begins as those of older runners
}

// head is where a piece's first frame stands in its file.
func (p piece) head() int64 {
	if p.old {
		return oldHead
	}
	return pieceHead
}

// Write appends data that came on a stream. It never fails: what the disk refuses is dropped.
func (l *Log) Write(s Stream, data []byte) {
	if len(data) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last >= 0 && Stream(l.buf[l.last]) == s {
		head := l.buf[l.last+1 : l.last+frameHead]
		binary.LittleEndian.PutUint32(head, binary.LittleEndian.Uint32(head)+uint32(len(data)))
	} else {
		l.last = len(l.buf)
		l.buf = append(l.buf, byte(s), 0, 0, 0, 0)
		binary.LittleEndian.PutUint32(l.buf[l.last+1:], uint32(len(data)))
	}
	l.buf = append(l.buf, data...)
	l.end.pass(s, data)
	if limit := l.limit(); len(l.buf) >= limit {
		l.flush()
	}
}

func (l *Log) limit() int {
	if len(l.pieces) > 0 {
		return flushBytes
	}
	return spillBytes
}

// Age puts output on disk that has waited long enough; call it a few times a second.
func (l *Log) Age(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.buf) > 0 && (len(l.pieces) > 0 || now.Sub(l.born) >= spillAfter) {
		l.flush()
	}
}

// Size is the number of bytes so far of both streams.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end.of(Both)
}

// Tail returns the last bytes of both streams as they came, at most TailBytes.
func (l *Log) Tail() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return appendTail(append([]byte(nil), l.tail...), l.buf)
}

func appendTail(tail, frames []byte) []byte {
	for len(frames) >= frameHead {
		n := int(binary.LittleEndian.Uint32(frames[1:]))
		data := frames[frameHead : frameHead+n]
		frames = frames[frameHead+n:]
		tail = append(tail, data[max(0, len(data)-TailBytes):]...)
		tail = tail[max(0, len(tail)-TailBytes):]
	}
	return tail
}

// flush moves buf to a piece; mu is held.
func (l *Log) flush() {
	l.tail = append([]byte(nil), appendTail(l.tail, l.buf)...)
	if l.broken == nil {
		if err := l.writePiece(); err != nil {
			l.broken = err
		}
	}
	if l.broken != nil {
		l.store.dropped(l.key, l.end.of(Both)-l.start.of(Both), l.broken)
		l.hole[1] = l.end
		if l.hole[0] == (point{}) {
			l.hole[0] = l.start
		}
	}
	l.buf, l.start, l.last = l.buf[:0], l.end, -1
}

func (l *Log) writePiece() error {
	if n := len(l.pieces); n == 0 || l.start.of(Both)-l.pieces[n-1].start.of(Both) >= pieceBytes {
		if err := l.nextPiece(); err != nil {
			return err
		}
	}
	if _, err := l.file.Write(l.buf); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

func (l *Log) nextPiece() error {
	number := 0
	if n := len(l.pieces); n > 0 {
		number = l.pieces[n-1].number + 1
		_ = l.file.Close()
		l.file = nil
	}
	dir := l.store.bigFolder(l.key)
	if number == 0 {
		if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
			return fmt.Errorf("make folder for output: %w", err)
		}
	}
	file, err := os.OpenFile(piecePath(dir, number), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("make file for output: %w", err)
	}
	l.file = file
	var head [pieceHead]byte
	binary.LittleEndian.PutUint64(head[0:], pieceMagic)
	for i, n := range []int64{l.start.bytes[0], l.start.bytes[1], l.start.lines[0], l.start.lines[1]} {
		binary.LittleEndian.PutUint64(head[8+8*i:], uint64(n))
	}
	if _, err := file.Write(head[:]); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	l.pieces = append(l.pieces, piece{number: number, start: l.start})
	l.trim(dir)
	return nil
}

// trim drops the oldest piece of the tail when there is one too many.
func (l *Log) trim(dir string) {
	if len(l.pieces) <= headPieces+tailPieces+1 {
		return
	}
	gone := l.pieces[headPieces]
	l.pieces = append(l.pieces[:headPieces:headPieces], l.pieces[headPieces+1:]...)
	l.hole = [2]point{l.hole[0], l.pieces[headPieces].start}
	if l.hole[0] == (point{}) {
		l.hole[0] = gone.start
	}
	_ = os.Remove(piecePath(dir, gone.number))
}

func piecePath(dir string, number int) string {
	return filepath.Join(dir, strconv.Itoa(number))
}

// Close ends the log. It stays readable; Store.Flush puts a short one on disk.
func (l *Log) Close() {
	l.mu.Lock()
	if len(l.pieces) > 0 {
		if len(l.buf) > 0 {
			l.flush()
		}
		if l.file != nil {
			_ = l.file.Close()
			l.file = nil
		}
	}
	short := len(l.pieces) == 0
	l.mu.Unlock()
	l.store.closed(l, short)
}

// view is what a reader needs of the log as it is now.
func (l *Log) view() view {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := view{dir: l.store.bigFolder(l.key), end: l.end, hole: l.hole}
	v.pieces = append(v.pieces, l.pieces...)
	if len(l.buf) > 0 {
		v.pieces = append(v.pieces, piece{start: l.start, frames: append([]byte(nil), l.buf...)})
	}
	return v
}
