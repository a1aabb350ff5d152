package tasklog

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

const (
	// cursorBuffer is what a cursor reads of a piece at a time.
	cursorBuffer = 64 << 10
	// maxMarks is how many readers are found where they stopped.
	maxMarks = 16
)

// mark is where a reader stopped in a piece that is a file: the next read goes on there
// instead of counting through the piece again.
type mark struct {
	key       Key
	stream    Stream
	at, lines int64
	piece     int   // its number
	file      int64 // offset of the next byte in the file
	left      int64 // of the frame that is there
}

// cursor walks over one stream of a view.
type cursor struct {
	v         view
	stream    Stream
	index     int // of the piece, in v.pieces
	at, lines int64

	open   bool
	file   *os.File // nil: frames
	in     *bufio.Reader
	frames []byte
	pos    int64 // of the next byte in the file
	left   int64 // of the frame that is there
}

// cursorAt gives a cursor that only says where it is.
func (v view) cursorAt(s Stream, at, lines int64) *cursor {
	return &cursor{v: v, stream: s, index: len(v.pieces), at: at, lines: lines}
}

// cursorIn gives a cursor at the beginning of a piece.
func (v view) cursorIn(s Stream, index int) *cursor {
	c := &cursor{v: v, stream: s, index: index}
	if index < len(v.pieces) {
		c.at, c.lines = v.pieces[index].start.of(s), v.pieces[index].start.linesOf(s)
	}
	return c
}

// resume gives a cursor where a reader stopped, or nil if that piece is gone.
func (v view) resume(m *mark) *cursor {
	index := slices.IndexFunc(v.pieces, func(p piece) bool { return p.number == m.piece && p.frames == nil })
	if index < 0 || m.file == 0 {
		return nil
	}
	c := &cursor{v: v, stream: m.stream, index: index, at: m.at, lines: m.lines}
	if c.enter(m.file) != nil {
		return nil
	}
	c.left = m.left
	return c
}

func (c *cursor) enter(pos int64) error {
	p := c.v.pieces[c.index]
	c.open, c.left, c.frames = true, 0, p.frames
	if p.frames != nil {
		return nil
	}
	file, err := os.Open(piecePath(c.v.dir, p.number))
	if err != nil {
		return fmt.Errorf("read output: %w", err)
	}
	if _, err := file.Seek(pos, io.SeekStart); err != nil {
		_ = file.Close()
		return fmt.Errorf("read output: %w", err)
	}
	c.file, c.pos = file, pos
	if c.in == nil {
		c.in = bufio.NewReaderSize(file, cursorBuffer)
	} else {
		c.in.Reset(file)
	}
	return nil
}

func (c *cursor) close() {
	if c.file != nil {
		_ = c.file.Close()
		c.file = nil
	}
	c.open = false
}

// peek gives what comes next, at least a byte; io.EOF at the end. The gap is passed over.
func (c *cursor) peek() ([]byte, error) {
	for c.index < len(c.v.pieces) {
		if !c.open {
			p := c.v.pieces[c.index]
			// Before the gap, more has been counted than was kept.
			c.at, c.lines = p.start.of(c.stream), p.start.linesOf(c.stream)
			if err := c.enter(p.head()); err != nil {
				return nil, err
			}
		}
		data, err := c.peekPiece()
		if !errors.Is(err, io.EOF) {
			return data, err
		}
		c.close()
		c.index++
	}
	return nil, io.EOF
}

// endOf is where a piece ends.
func (v view) endOf(index int) point {
	switch {
	case index+1 == len(v.pieces):
		return v.end
	case v.hole[0] != v.hole[1] && v.pieces[index+1].start == v.hole[1]:
		return v.hole[0]
	}
	return v.pieces[index+1].start
}

func (c *cursor) peekPiece() ([]byte, error) {
	// The file of a running attempt may have grown since the view was made.
	most := c.v.endOf(c.index).of(c.stream) - c.at
	if most <= 0 {
		return nil, io.EOF
	}
	for c.left == 0 {
		head, err := c.bytes(frameHead)
		if err != nil {
			return nil, err
		}
		own := c.stream == Both || Stream(head[0]) == c.stream
		n := int64(binary.LittleEndian.Uint32(head[1:]))
		c.drop(frameHead)
		if own {
			c.left = n
			continue
		}
		if err := c.over(n); err != nil {
			return nil, err
		}
	}
	if c.file == nil {
		if len(c.frames) == 0 {
			return nil, io.EOF
		}
		return c.frames[:min(c.left, int64(len(c.frames)), most)], nil
	}
	if _, err := c.in.Peek(1); err != nil {
		return nil, io.EOF // a torn frame is the end of what a crash left
	}
	data, err := c.in.Peek(int(min(c.left, int64(c.in.Buffered()), most)))
	if err != nil {
		return nil, fmt.Errorf("read output: %w", err)
	}
	return data, nil
}

func (c *cursor) bytes(n int) ([]byte, error) {
	if c.file == nil {
		if len(c.frames) < n {
			return nil, io.EOF
		}
		return c.frames[:n], nil
	}
	data, err := c.in.Peek(n)
	if err != nil {
		return nil, io.EOF
	}
	return data, nil
}

// over passes over a frame of the other stream.
func (c *cursor) over(n int64) error {
	if c.file == nil {
		c.frames = c.frames[min(n, int64(len(c.frames))):]
		return nil
	}
	got, err := c.in.Discard(int(n))
	c.pos += int64(got)
	if err != nil {
		return io.EOF
	}
	return nil
}

// drop passes over bytes that peek or bytes has shown.
func (c *cursor) drop(n int) {
	if c.file == nil {
		c.frames = c.frames[n:]
		return
	}
	_, _ = c.in.Discard(n) // they are in the buffer
	c.pos += int64(n)
}

// skip passes over n bytes that peek has shown, with so many line ends in them.
func (c *cursor) skip(n int, lines int64) {
	c.drop(n)
	c.left -= int64(n)
	c.at += int64(n)
	c.lines += lines
}

func (c *cursor) pass(data []byte) { c.skip(len(data), int64(bytes.Count(data, newline))) }

// take appends what follows until out has limit bytes or, if lines is over 0, so many
// line ends.
func (c *cursor) take(out []byte, limit, lines int) ([]byte, error) {
	for len(out) < limit {
		data, err := c.peek()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		data = data[:min(len(data), limit-len(out))]
		n := bytes.Count(data, newline)
		if lines > 0 && n >= lines {
			at := 0
			for ; lines > 0; lines-- {
				at += bytes.IndexByte(data[at:], '\n') + 1
			}
			out = append(out, data[:at]...)
			c.pass(data[:at])
			return out, nil
		}
		lines -= min(n, max(0, lines))
		out = append(out, data...)
		c.skip(len(data), int64(n))
	}
	return out, nil
}

// remember keeps where the cursor is, if that is in a file.
func (c *cursor) remember(m *mark) {
	if m == nil {
		return
	}
	*m = mark{}
	if c.file != nil {
		*m = mark{stream: c.stream, at: c.at, lines: c.lines, piece: c.v.pieces[c.index].number, file: c.pos, left: c.left}
	}
}
