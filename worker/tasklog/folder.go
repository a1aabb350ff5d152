package tasklog

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
)

// Pieces that an older runner has left begin without the count of line ends.
const (
	oldHead  = 24
	oldMagic = 0x31_65_63_65_69_70_70_70 // "pppiece1"
)

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
		p := piece{number: number}
		if p.start, p.old, err = readHead(piecePath(dir, number)); err == nil {
			v.pieces = append(v.pieces, p)
		}
	}
	if len(v.pieces) == 0 {
		return view{}, ErrNotFound
	}
	slices.SortFunc(v.pieces, func(a, b piece) int { return a.number - b.number })
	for i := range v.pieces {
		p := &v.pieces[i]
		last := i+1 == len(v.pieces)
		if !last && v.pieces[i+1].number == p.number+1 && !v.pieces[i+1].old {
			continue // the next piece says where this one ends
		}
		end, err := measure(dir, *p)
		switch {
		case err != nil:
			return view{}, err
		case last:
			v.end = end
		default:
			next := &v.pieces[i+1]
			if next.old {
				next.start.lines = end.lines
			}
			if next.number > p.number+1 {
				v.hole = [2]point{end, next.start}
			}
		}
	}
	return v, nil
}

func readHead(path string) (start point, old bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return start, false, fmt.Errorf("read output: %w", err)
	}
	defer func() { _ = file.Close() }()
	var head [pieceHead]byte
	n, err := io.ReadFull(file, head[:])
	if n < oldHead {
		return start, false, fmt.Errorf("read output: %w", err)
	}
	switch binary.LittleEndian.Uint64(head[0:]) {
	case oldMagic:
		old = true
	case pieceMagic:
		if err != nil {
			return start, false, fmt.Errorf("read output: %w", err)
		}
		start.lines = [2]int64{int64(binary.LittleEndian.Uint64(head[24:])), int64(binary.LittleEndian.Uint64(head[32:]))}
	default:
		return start, false, fmt.Errorf("read output: %s is no piece of output", path)
	}
	start.bytes = [2]int64{int64(binary.LittleEndian.Uint64(head[8:])), int64(binary.LittleEndian.Uint64(head[16:]))}
	return start, old, nil
}

// measure walks a piece's frames to where its last whole byte ends.
func measure(dir string, p piece) (point, error) {
	file, err := os.Open(piecePath(dir, p.number))
	if err != nil {
		return point{}, fmt.Errorf("read output: %w", err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(p.head(), io.SeekStart); err != nil {
		return point{}, fmt.Errorf("read output: %w", err)
	}
	in := bufio.NewReaderSize(file, cursorBuffer)
	end := p.start
	for {
		head, err := in.Peek(frameHead)
		if err != nil || head[0] > byte(Stderr) {
			return end, nil //nolint:nilerr // a torn frame is the end of what a crash left
		}
		s, left := Stream(head[0]), int(binary.LittleEndian.Uint32(head[1:]))
		_, _ = in.Discard(frameHead)
		for left > 0 {
			if _, err := in.Peek(1); err != nil {
				return end, nil //nolint:nilerr // as above
			}
			data, _ := in.Peek(min(left, in.Buffered()))
			end.pass(s, data)
			left -= len(data)
			_, _ = in.Discard(len(data))
		}
	}
}

// passFrames moves a point over frames that are in memory.
func passFrames(at point, frames []byte) point {
	for len(frames) >= frameHead {
		n := int(binary.LittleEndian.Uint32(frames[1:]))
		at.pass(Stream(frames[0]), frames[frameHead:frameHead+n])
		frames = frames[frameHead+n:]
	}
	return at
}
