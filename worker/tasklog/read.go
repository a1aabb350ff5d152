package tasklog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxRead bounds the data of one answer.
const MaxRead = 256 << 10

// ErrNotFound is returned for an attempt whose output is not here.
var ErrNotFound = errors.New("not_found")

// Query says which part of a stream is wanted. A negative Offset counts from the end;
// Line, which counts from 1, goes before it. Limit is at most MaxRead, 0 means that;
// Lines ends the part after so many line ends, 0 means no such bound.
type Query struct {
	Stream Stream
	Offset int64
	Line   int64
	Limit  int
	Lines  int
}

// Text is one answer of Read: Data begins at Offset, in line Line (from 1), of a stream
// that has Size bytes and Newlines line ends so far. EOF says that nothing follows Data
// and nothing will.
type Text struct {
	Data           []byte
	Offset, Size   int64
	Line, Newlines int64
	Gap            Gap
	EOF            bool
}

// Gap is what was dropped of a stream between its head and its tail: the bytes between
// two offsets, and the line ends before each of them. None was where From equals To.
type Gap struct {
	From, To           int64
	LinesFrom, LinesTo int64
}

// view is the output of one attempt at one moment.
type view struct {
	dir    string
	pieces []piece
	hole   [2]point
	end    point
	over   bool
}

func (v view) gap(s Stream) Gap {
	return Gap{From: v.hole[0].of(s), To: v.hole[1].of(s), LinesFrom: v.hole[0].linesOf(s), LinesTo: v.hole[1].linesOf(s)}
}

// read answers from a view. Offsets are those of the whole stream: where a part was
// dropped, a line that says so stands at its beginning and the text goes on at its end.
func (v view) read(q Query, near *mark) (Text, error) {
	s, gap := q.Stream, v.gap(q.Stream)
	limit := q.Limit
	if limit <= 0 || limit > MaxRead {
		limit = MaxRead
	}
	c, err := v.seek(q, gap, near)
	if err != nil {
		return Text{}, err
	}
	defer c.close()
	t := Text{Offset: c.at, Line: c.lines + 1, Size: v.end.of(s), Newlines: v.end.linesOf(s), Gap: gap}
	if gap.From < gap.To && c.at == gap.From {
		mark := fmt.Sprintf("\n--- %d bytes are left out here ---\n", gap.To-gap.From)
		t.Data = []byte(mark[:min(int64(len(mark)), gap.To-gap.From, int64(limit))])
		t.EOF = v.over && gap.To == t.Size && int64(len(t.Data)) == gap.To-gap.From
		return t, nil
	}
	if c.at < gap.From {
		limit = int(min(int64(limit), gap.From-c.at))
	}
	t.Data, err = c.take(make([]byte, 0, max(0, min(int64(limit), t.Size-c.at))), limit, q.Lines)
	if err != nil {
		return Text{}, err
	}
	c.remember(near)
	t.EOF = v.over && t.Offset+int64(len(t.Data)) >= t.Size
	return t, nil
}

// seek gives a cursor at the place that is asked for.
func (v view) seek(q Query, gap Gap, near *mark) (*cursor, error) {
	s := q.Stream
	if q.Line > 0 {
		before := q.Line - 1
		switch {
		case before > v.end.linesOf(s):
			return v.cursorAt(s, v.end.of(s), v.end.linesOf(s)), nil
		case before > gap.LinesFrom && before < gap.LinesTo:
			return v.cursorAt(s, gap.From, gap.LinesFrom), nil
		case before > gap.LinesFrom && before == gap.LinesTo:
			return v.seekOffset(s, gap.To, nil)
		}
		return v.seekLine(s, before)
	}
	size := v.end.of(s)
	offset := q.Offset
	if offset < 0 {
		offset = max(0, size+offset)
	}
	offset = min(offset, size)
	switch {
	case gap.From < gap.To && offset == gap.From:
		return v.cursorAt(s, gap.From, gap.LinesFrom), nil
	case offset > gap.From && offset < gap.To:
		offset = gap.To
	}
	if offset == size {
		return v.cursorAt(s, size, v.end.linesOf(s)), nil
	}
	return v.seekOffset(s, offset, near)
}

func (v view) seekOffset(s Stream, offset int64, near *mark) (*cursor, error) {
	if near != nil && near.stream == s && near.at == offset {
		if c := v.resume(near); c != nil {
			return c, nil
		}
	}
	first := 0
	for i, p := range v.pieces {
		if p.start.of(s) <= offset {
			first = i
		}
	}
	c := v.cursorIn(s, first)
	for c.at < offset {
		data, err := c.peek()
		if errors.Is(err, io.EOF) {
			return c, nil // what a crash left is shorter than it says
		}
		if err != nil {
			c.close()
			return nil, err
		}
		c.pass(data[:min(int64(len(data)), offset-c.at)])
	}
	return c, nil
}

// seekLine gives a cursor after the line end that has so many before it, itself included.
func (v view) seekLine(s Stream, before int64) (*cursor, error) {
	first := 0
	for i, p := range v.pieces {
		if p.start.linesOf(s) < before {
			first = i
		}
	}
	c := v.cursorIn(s, first)
	for c.lines < before {
		data, err := c.peek()
		if errors.Is(err, io.EOF) {
			return c, nil
		}
		if err != nil {
			c.close()
			return nil, err
		}
		if n := int64(bytes.Count(data, newline)); c.lines+n < before {
			c.skip(len(data), n)
			continue
		}
		at := 0
		for n := before - c.lines; n > 0; n-- {
			at += bytes.IndexByte(data[at:], '\n') + 1
		}
		c.skip(at, before-c.lines)
	}
	return c, nil
}
