package grep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/porpoise/porpoise/worker/tasklog"
)

const (
	// MaxHits bounds the hits of one answer.
	MaxHits = 1000
	// maxLine is how much of a line is looked at in one piece: a match over the border of
	// two such pieces is not found.
	maxLine = 1 << 20
	// maxText is how much of a line goes with its hit.
	maxText = 500
)

// ErrOld is returned where the output comes from a runner that counts no lines.
var ErrOld = errors.New("the worker's runner is of an older version, which can't be searched")

// Query is a search: from a line's beginning forward, or backward before it. With Count
// it goes through the whole stream, and its hits are numbered.
type Query struct {
	Pattern  Pattern
	Offset   int64 // negative counts from the end
	Line     int64 // from 1, goes before Offset; 0: none
	Backward bool
	Count    bool
	Limit    int // of hits; 0: MaxHits
}

// Hit is a line that matches. Start and Length are those of the first match in the line
// as it is shown, in UTF-16 units; Text is that line, cut at 500 bytes. More has start and
// length of an expression's further matches, one after the other.
type Hit struct {
	Offset, Line  int64 // of the line
	Number        int64 // among all hits, from 1; 0: not counted
	Text          string
	Start, Length int
	More          []int
}

// Found is the answer. Hits are in the order of the search: backward, the nearest comes
// first. Whole says that the search was not cut off by its time.
type Found struct {
	Hits     []Hit
	Total    int64
	Whole    bool
	Searched int64 // bytes
}

// Read gives a window of the stream, by offset or, where line is over 0, by line.
type Read func(ctx context.Context, offset, line int64, limit int) (tasklog.Text, error)

// Search looks through a stream. When the deadline of ctx comes, what was found so far is
// the answer; when ctx is cancelled, there is none. It returns ErrPattern and ErrOld, and
// what read returns.
func Search(ctx context.Context, q Query, read Read) (Found, error) {
	m, err := compile(q.Pattern)
	if err != nil {
		return Found{}, err
	}
	if q.Limit <= 0 || q.Limit > MaxHits {
		q.Limit = MaxHits
	}
	at, err := read(ctx, q.Offset, q.Line, 1)
	if err != nil {
		return Found{}, err
	}
	if at.Line == 0 {
		return Found{}, ErrOld
	}
	s := &search{q: q, m: m, read: read}
	s.from, err = s.lineFrom(ctx, at)
	switch {
	case err != nil:
	case q.Count:
		err = s.forward(ctx, 0)
	case q.Backward:
		err = s.backward(ctx)
	default:
		err = s.forward(ctx, s.from)
	}
	s.found.Whole = err == nil
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return Found{}, err
	}
	if q.Backward && q.Count {
		s.keepLast(&s.found.Hits)
		slices.Reverse(s.found.Hits)
	}
	return s.found, nil
}

type search struct {
	q     Query
	m     *matcher
	read  Read
	from  int64
	found Found
	last  int64  // line of the last hit
	line  []byte // of the last hit, as it is shown

	scratch, lowered []byte
}

func (s *search) full() bool { return !s.q.Count && len(s.found.Hits) >= s.q.Limit }

// window reads, and counts what was read.
func (s *search) window(ctx context.Context, offset int64, limit int) (tasklog.Text, error) {
	if err := ctx.Err(); err != nil {
		return tasklog.Text{}, fmt.Errorf("search output: %w", err)
	}
	w, err := s.read(ctx, offset, 0, limit)
	if err != nil {
		return tasklog.Text{}, fmt.Errorf("search output: %w", err)
	}
	s.found.Searched += int64(len(w.Data))
	return w, nil
}

// span reads all from start to end, up to the gap where that is between them.
func (s *search) span(ctx context.Context, start, end int64) (tasklog.Text, error) {
	w, err := s.window(ctx, start, int(end-start))
	for err == nil {
		at := w.Offset + int64(len(w.Data))
		if at >= end || w.Gap.From < w.Gap.To && at >= w.Gap.From && w.Offset <= w.Gap.From {
			break
		}
		var more tasklog.Text
		if more, err = s.window(ctx, at, int(end-at)); err == nil && len(more.Data) == 0 {
			break
		}
		w.Data = append(w.Data, more.Data...)
	}
	return w, err
}

// lineFrom is where the first line begins that does so at a place or after it.
func (s *search) lineFrom(ctx context.Context, at tasklog.Text) (int64, error) {
	if at.Offset == 0 || at.Offset == at.Gap.To {
		return at.Offset, nil
	}
	for offset := at.Offset - 1; ; {
		w, err := s.read(ctx, offset, 0, tasklog.MaxRead)
		if err != nil {
			return 0, fmt.Errorf("search output: %w", err)
		}
		if w.Gap.From < w.Gap.To && w.Offset == w.Gap.From {
			return w.Gap.To, nil
		}
		if end := bytes.IndexByte(w.Data, '\n'); end >= 0 || len(w.Data) == 0 {
			return w.Offset + int64(end) + 1, nil
		}
		offset = w.Offset + int64(len(w.Data))
	}
}

// lines is a stretch of a stream that begins in a line.
type lines struct {
	data         []byte
	offset, line int64
	begin        int64 // of the first line, where that is longer than what is looked at
}

// forward looks at the lines from an offset on, where a line begins.
func (s *search) forward(ctx context.Context, at int64) error {
	var rest lines
	for !s.full() {
		w, err := s.window(ctx, at, tasklog.MaxRead)
		if err != nil {
			return err
		}
		if w.Gap.From < w.Gap.To && w.Offset == w.Gap.From {
			s.look(rest)
			rest, at = lines{}, w.Gap.To
			continue
		}
		if len(w.Data) == 0 {
			s.look(rest)
			return nil
		}
		at = w.Offset + int64(len(w.Data))
		if rest.data == nil {
			rest.offset, rest.line, rest.begin = w.Offset, w.Line, w.Offset
		}
		rest.data = append(rest.data, w.Data...)
		s.lookWhole(&rest)
	}
	return nil
}

// lookWhole looks at the lines whose end is there and keeps the rest.
func (s *search) lookWhole(rest *lines) {
	end := bytes.LastIndexByte(rest.data, '\n') + 1
	if end == 0 && len(rest.data) < maxLine {
		return
	}
	whole := *rest
	if end == 0 {
		end = len(rest.data)
	} else {
		rest.begin = rest.offset + int64(end)
	}
	whole.data = rest.data[:end]
	s.look(whole)
	rest.line += int64(bytes.Count(whole.data, lineEnd))
	rest.offset += int64(end)
	rest.data = append(rest.data[:0], rest.data[end:]...)
}

var lineEnd = []byte{'\n'}

// backward looks at the lines that begin before from, the last first. Of a line over
// maxLine it sees the beginning.
func (s *search) backward(ctx context.Context) error {
	end := s.from
	var tail []byte // of the line that end is in
	for end > 0 && !s.full() {
		start := max(0, end-tasklog.MaxRead)
		w, err := s.span(ctx, start, end)
		if err != nil {
			return err
		}
		gap := w.Gap
		if gap.From < gap.To && end > gap.From && start < gap.To {
			if end <= gap.To {
				end, tail = gap.From, nil
				continue
			}
			if w, err = s.span(ctx, gap.To, end); err != nil {
				return err
			}
		}
		if len(w.Data) == 0 {
			return nil // the output is shorter than it says
		}
		end = w.Offset
		block := append(slices.Clip(w.Data), tail...)
		head := bytes.IndexByte(block, '\n') + 1
		switch {
		case end == 0 || gap.From < gap.To && end == gap.To:
			head = 0 // a line begins here
		case head == 0:
			tail = block[:min(len(block), maxLine)]
			continue
		}
		s.lookBack(lines{
			data: block[head:], offset: end + int64(head), begin: end + int64(head), line: w.Line + int64(bytes.Count(block[:head], lineEnd)),
		})
		tail = block[:head]
	}
	return nil
}

func (s *search) lookBack(l lines) {
	var hits []Hit
	s.scan(l, func(h Hit) bool {
		s.found.Total++
		h.More = s.m.behind(s.line)
		hits = append(hits, h)
		if len(hits) >= 2*s.q.Limit {
			s.keepLast(&hits)
		}
		return true
	})
	for _, h := range slices.Backward(hits) {
		if len(s.found.Hits) < s.q.Limit {
			s.found.Hits = append(s.found.Hits, h)
		}
	}
}

// keepLast drops all hits but the last that are asked for.
func (s *search) keepLast(hits *[]Hit) {
	if over := len(*hits) - s.q.Limit; over > 0 {
		*hits = append((*hits)[:0], (*hits)[over:]...)
	}
}

func (s *search) look(l lines) {
	s.scan(l, func(h Hit) bool {
		s.found.Total++
		if s.q.Count {
			h.Number = s.found.Total
		}
		switch {
		case !s.q.Backward:
			if h.Offset >= s.from && len(s.found.Hits) < s.q.Limit {
				h.More = s.m.behind(s.line)
				s.found.Hits = append(s.found.Hits, h)
			}
		case h.Offset < s.from:
			h.More = s.m.behind(s.line)
			s.found.Hits = append(s.found.Hits, h)
			if len(s.found.Hits) >= 2*s.q.Limit {
				s.keepLast(&s.found.Hits)
			}
		}
		return !s.full()
	})
}

// scan gives the lines that match, each once, until yield returns false.
func (s *search) scan(l lines, yield func(Hit) bool) {
	text := l.data
	asIs := clean(text)
	if !asIs {
		s.scratch = shown(s.scratch[:0], l.data)
		if !bytes.HasSuffix(l.data, lineEnd) {
			s.scratch = append(s.scratch, '\n') // the last line may have nothing to show
		}
		text = s.scratch
	}
	next := s.candidates(text)
	line, counted, raw := l.line, 0, 0
	for pos := 0; pos < len(text); {
		begin := next(pos)
		if begin < 0 {
			return
		}
		end := len(text)
		if n := bytes.IndexByte(text[begin:], '\n'); n >= 0 {
			end = begin + n
		}
		pos = end + 1
		one := bytes.TrimSuffix(text[begin:end], []byte{'\r'})
		start, stop, ok := s.m.find(one)
		if !ok {
			continue
		}
		n := int64(bytes.Count(text[counted:begin], lineEnd))
		line, counted = line+n, begin
		if asIs {
			raw = begin
		} else {
			for ; n > 0; n-- {
				raw += bytes.IndexByte(l.data[raw:], '\n') + 1
			}
		}
		h := Hit{Offset: l.offset + int64(raw), Line: line, Text: cut(one), Start: units(one[:start]), Length: units(one[start:stop])}
		if line == l.line && raw == 0 {
			h.Offset = l.begin
		}
		if line == s.last {
			continue // a later piece of a long line
		}
		s.last = line
		s.line = one
		if !yield(h) {
			return
		}
	}
}

// candidates gives a function that tells where the first line begins, at a position or
// after it, that may match; below 0 for none.
func (s *search) candidates(text []byte) func(pos int) int {
	if len(s.m.literals) == 0 || s.m.fold && oddCase(text) {
		return func(pos int) int { return pos }
	}
	if s.m.fold {
		s.lowered = lower(s.lowered[:0], text)
		text = s.lowered
	}
	at := make([]int, len(s.m.literals)) // where each stands next
	for i := range at {
		at[i] = -1
	}
	return func(pos int) int {
		nearest := len(text)
		for i, literal := range s.m.literals {
			if at[i] < pos {
				at[i] = len(text)
				if n := bytes.Index(text[pos:], literal); n >= 0 {
					at[i] = pos + n
				}
			}
			nearest = min(nearest, at[i])
		}
		if nearest == len(text) {
			return -1
		}
		return pos + bytes.LastIndexByte(text[pos:nearest], '\n') + 1
	}
}

func cut(line []byte) string {
	if len(line) > maxText {
		n := maxText
		for n > maxText-utf8.UTFMax && !utf8.RuneStart(line[n]) {
			n--
		}
		line = line[:n]
	}
	return strings.ToValidUTF8(string(line), "\ufffd")
}

// units counts UTF-16 units, as the console's strings do.
func units(text []byte) int {
	n := 0
	for _, r := range strings.ToValidUTF8(string(text), "\ufffd") {
		n += utf16.RuneLen(r)
	}
	return n
}
