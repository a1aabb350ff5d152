package tasklog

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
)

// MaxRead bounds the data of one answer.
const MaxRead = 256 << 10

// ErrNotFound is returned for an attempt whose output is not here.
var ErrNotFound = errors.New("not_found")

// Text is one answer of Read: Data begins at Offset of a stream that has Size bytes so
// far. EOF says that nothing follows Data and nothing will.
type Text struct {
	Data         []byte
	Offset, Size int64
	EOF          bool
}

// view is the output of one attempt at one moment.
type view struct {
	dir    string
	pieces []piece
	hole   [2]position
	end    position
	over   bool
}

// read answers from a view. Offsets are those of the whole stream: where a part was
// dropped, a line that says so stands at its beginning and the text goes on at its end.
func (v view) read(s Stream, offset int64, limit int) (Text, error) {
	size := v.end.of(s)
	if offset < 0 {
		offset = max(0, size+offset)
	}
	offset = min(offset, size)
	if limit <= 0 || limit > MaxRead {
		limit = MaxRead
	}
	from, to := v.hole[0].of(s), v.hole[1].of(s)
	switch {
	case from < to && offset == from:
		mark := fmt.Sprintf("\n--- %d bytes are left out here ---\n", to-from)
		mark = mark[:min(int64(len(mark)), to-from, int64(limit))]
		return Text{Data: []byte(mark), Offset: offset, Size: size, EOF: v.over && to == size && int64(len(mark)) == to-from}, nil
	case from < to && offset > from && offset < to:
		offset = to
	case offset < from:
		limit = int(min(int64(limit), from-offset))
	}
	out := make([]byte, 0, min(int64(limit), size-offset))
	for i, p := range v.pieces {
		next := v.end
		if i+1 < len(v.pieces) {
			next = v.pieces[i+1].start
		}
		at := offset + int64(len(out))
		if next.of(s) <= at || p.start.of(s) > at {
			continue
		}
		var err error
		if out, err = v.take(out, p, s, at-p.start.of(s), limit); err != nil {
			return Text{}, err
		}
		if len(out) >= limit {
			break
		}
	}
	return Text{Data: out, Offset: offset, Size: size, EOF: v.over && offset+int64(len(out)) >= size}, nil
}

// take appends from a piece the bytes of s after skip, until out has limit bytes.
func (v view) take(out []byte, p piece, s Stream, skip int64, limit int) ([]byte, error) {
	if p.frames != nil {
		return takeFrames(out, p.frames, s, skip, limit), nil
	}
	file, err := os.Open(piecePath(v.dir, p.number))
	if err != nil {
		return out, fmt.Errorf("read output: %w", err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(pieceHead, io.SeekStart); err != nil {
		return out, fmt.Errorf("read output: %w", err)
	}
	in := bufio.NewReaderSize(file, 64<<10)
	for len(out) < limit {
		var head [frameHead]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return out, nil //nolint:nilerr // a torn frame is the end of what a crash left
		}
		n := int64(binary.LittleEndian.Uint32(head[1:]))
		jump := n
		if s == Both || Stream(head[0]) == s {
			jump = min(skip, n)
			skip -= jump
		}
		if _, err := in.Discard(int(jump)); err != nil {
			return out, nil //nolint:nilerr // as above
		}
		rest := n - jump
		want := int(min(rest, int64(limit-len(out))))
		at := len(out)
		out = slices.Grow(out, want)[:at+want]
		got, err := io.ReadFull(in, out[at:])
		if err != nil || int64(want) < rest {
			return out[:at+got], nil //nolint:nilerr // as above
		}
	}
	return out, nil
}

func takeFrames(out, frames []byte, s Stream, skip int64, limit int) []byte {
	for len(frames) >= frameHead && len(out) < limit {
		n := int(binary.LittleEndian.Uint32(frames[1:]))
		data := frames[frameHead : frameHead+n]
		own := s == Both || Stream(frames[0]) == s
		frames = frames[frameHead+n:]
		if !own {
			continue
		}
		jump := min(skip, int64(n))
		skip -= jump
		data = data[jump:]
		out = append(out, data[:min(len(data), limit-len(out))]...)
	}
	return out
}

// openBig makes a view of a folder that a finished attempt, or a crash, left.
func openBig(dir string) (view, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return view{}, ErrNotFound
	}
	v := view{dir: dir, over: true}
	for _, e := range entries {
		number, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		start, end, err := measure(piecePath(dir, number))
		if err != nil {
			continue
		}
		v.pieces = append(v.pieces, piece{number: number, start: start})
		if end.of(Both) > v.end.of(Both) {
			v.end = end
		}
	}
	if len(v.pieces) == 0 {
		return view{}, ErrNotFound
	}
	slices.SortFunc(v.pieces, func(a, b piece) int { return a.number - b.number })
	for i, p := range v.pieces[1:] {
		if before := v.pieces[i]; p.number > before.number+1 {
			_, end, err := measure(piecePath(dir, before.number))
			if err == nil {
				v.hole = [2]position{end, p.start}
			}
		}
	}
	return v, nil
}

// measure walks a piece's frames: where it starts and where its last whole byte ends.
func measure(path string) (start, end position, err error) {
	file, err := os.Open(path)
	if err != nil {
		return start, end, fmt.Errorf("read output: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return start, end, fmt.Errorf("read output: %w", err)
	}
	var head [pieceHead]byte
	if _, err := io.ReadFull(file, head[:]); err != nil {
		return start, end, fmt.Errorf("read output: %w", err)
	}
	if binary.LittleEndian.Uint64(head[0:]) != pieceMagic {
		return start, end, fmt.Errorf("read output: %s is no piece of output", path)
	}
	start = position{int64(binary.LittleEndian.Uint64(head[8:])), int64(binary.LittleEndian.Uint64(head[16:]))}
	end = start
	at := int64(pieceHead)
	for at+frameHead <= info.Size() {
		var head [frameHead]byte
		if _, err := file.ReadAt(head[:], at); err != nil || head[0] > byte(Stderr) {
			break
		}
		n := int64(binary.LittleEndian.Uint32(head[1:]))
		at += frameHead
		end[head[0]] += min(n, info.Size()-at)
		at += n
	}
	return start, end, nil
}
