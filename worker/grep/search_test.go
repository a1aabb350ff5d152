package grep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/porpoise/porpoise/worker/tasklog"
)

// output is a stream in memory whose windows are as short as a test wants them.
type output struct {
	text   []byte
	window func() int
}

func (o *output) read(_ context.Context, offset, line int64, limit int) (tasklog.Text, error) {
	if line > 0 {
		offset = 0
		for ; line > 1; line-- {
			n := bytes.IndexByte(o.text[offset:], '\n')
			if n < 0 {
				offset = int64(len(o.text))
				break
			}
			offset += int64(n) + 1
		}
	}
	size := int64(len(o.text))
	if offset < 0 {
		offset = max(0, size+offset)
	}
	offset = min(offset, size)
	end := min(size, offset+int64(min(limit, o.window())))
	return tasklog.Text{
		Data: slices.Clone(o.text[offset:end]), Offset: offset, Size: size, Line: int64(bytes.Count(o.text[:offset], lineEnd)) + 1,
		Newlines: int64(bytes.Count(o.text, lineEnd)),
	}, nil
}

func fixed(n int) func() int { return func() int { return n } }

// What the console drops from a line, as the console has it.
var dropped = regexp.MustCompile(`\x1b(?:\[[0-?]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[()][\s\S]?|[=>78])|[\x00-\x08\x0b\x0c\x0e-\x1b\x7f]`)

// naive finds every matching line the plain way.
func naive(text string, p Pattern) (hits []Hit) {
	expr := p.Text
	if !p.Regexp {
		expr = regexp.QuoteMeta(expr)
	}
	if !p.Case {
		expr = "(?i)" + expr
	}
	re := regexp.MustCompile(expr)
	offset := int64(0)
	for i, line := range strings.SplitAfter(text, "\n") {
		begin := offset
		offset += int64(len(line))
		if line == "" {
			continue
		}
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		line = line[strings.LastIndexByte(line, '\r')+1:]
		line = dropped.ReplaceAllString(line, "")
		if re.MatchString(line) {
			hits = append(hits, Hit{Offset: begin, Line: int64(i) + 1, Number: int64(len(hits)) + 1})
		}
	}
	return hits
}

func same(got, want []Hit, numbered bool) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d hits, want %d", len(got), len(want))
	}
	for i, h := range got {
		w := want[i]
		if h.Offset != w.Offset || h.Line != w.Line || numbered && h.Number != w.Number {
			return fmt.Errorf("hit %d = %d at %d, number %d; want %d at %d, number %d", i, h.Line, h.Offset, h.Number, w.Line, w.Offset, w.Number)
		}
	}
	return nil
}

// Whatever the windows, and whatever shortcuts are taken, the hits are those of the plain
// way: forward and backward, counted and not, from any place.
func TestHitsAreThoseOfANaiveSearch(t *testing.T) {
	t.Parallel()
	words := []string{
		"error", "ERROR", "Error", "err", "ok", "it is", "is", "日志错误", "ÄÖ", "äö", "\x1b[31m", "\x1b[0m", "\x1b]0;title\x07", "\r", "\r\n", "\n", "\n", "\n\n", " ",
		"K", "k", "\u212a", "s", "\u017f", "\xff", "\x00", "a", "b", "aab", "\x1b", "[31m", "1146: table x.y",
	}
	patterns := []string{
		"error", "err", "is", "k", "kk", "s", "错误", "äö", "Ö", "1146", "table x.y", "e", " ", "[31m",
		"^$", "^err", "err$", "err|ok", "(?:error|it is)\\b", "a+b", "e.*k", ".", "[a-b]{2}", "er{2}or", "(?i)OK", "x?", "\\d{4}", "日.错",
	}
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(0, 60).Draw(t, "words") {
			text.WriteString(rapid.SampledFrom(words).Draw(t, "word"))
		}
		p := Pattern{Text: rapid.SampledFrom(patterns).Draw(t, "pattern"), Regexp: rapid.Bool().Draw(t, "regexp"), Case: rapid.Bool().Draw(t, "case")}
		if p.Text == "[31m" {
			p.Regexp = false
		}
		o := &output{text: []byte(text.String()), window: fixed(rapid.IntRange(1, 40).Draw(t, "window"))}
		want := naive(text.String(), p)
		from := int64(rapid.IntRange(0, len(o.text)).Draw(t, "from"))
		q := Query{Pattern: p, Offset: from, Backward: rapid.Bool().Draw(t, "backward"), Count: rapid.Bool().Draw(t, "count"), Limit: rapid.IntRange(1, 5).Draw(t, "limit")}
		got, err := Search(t.Context(), q, o.read)
		if err != nil {
			t.Fatal(err)
		}
		var part []Hit
		for _, h := range want {
			if (h.Offset < from) == q.Backward {
				part = append(part, h)
			}
		}
		if q.Backward {
			slices.Reverse(part)
		}
		part = part[:min(len(part), q.Limit)]
		if err := same(got.Hits, part, q.Count); err != nil {
			t.Fatalf("%q for %+v: %v", text.String(), q, err)
		}
		if !got.Whole || q.Count && got.Total != int64(len(want)) {
			t.Fatalf("total %d, whole %v; want %d", got.Total, got.Whole, len(want))
		}
	})
}

func TestHitSaysWhereInTheShownLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line, pattern, text string
		start, length       int
	}{
		{"connect \x1b[32mok\x1b[0m now", "ok now", "connect ok now", 8, 6},
		{"10%\r50%\r100% done", "done", "100% done", 5, 4},
		{"错误 🙂 Fehler", "fehler", "错误 🙂 Fehler", 6, 6},
		{"a\xff\xfeb c", "c", "a\ufffdb c", 4, 1},
		{strings.Repeat("é", 400) + "x", "x", strings.Repeat("é", 250), 400, 1},
	} {
		o := &output{text: []byte("first\n" + c.line + "\r\nlast"), window: fixed(7)}
		got, err := Search(t.Context(), Query{Pattern: Pattern{Text: c.pattern}}, o.read)
		if err != nil || len(got.Hits) != 1 {
			t.Fatalf("%q: %+v, %v", c.line, got, err)
		}
		if h := got.Hits[0]; h.Line != 2 || h.Offset != 6 || h.Text != c.text || h.Start != c.start || h.Length != c.length {
			t.Errorf("%q: %+v", c.line, h)
		}
	}
}

func TestHitOfAnExpressionTellsAllItsMatches(t *testing.T) {
	t.Parallel()
	text := "first\n🙂 row 1, row 22 and row 333\nlast\n"
	for _, q := range []Query{
		{Pattern: Pattern{Text: `ROW \d+`, Regexp: true}},
		{Pattern: Pattern{Text: `ROW \d+`, Regexp: true}, Count: true},
		{Pattern: Pattern{Text: `ROW \d+`, Regexp: true}, Offset: 1 << 40, Backward: true},
		{Pattern: Pattern{Text: `row \d+|\b`, Regexp: true, Case: true}, Line: 2, Limit: 1}, // an empty match shows nothing
	} {
		o := &output{text: []byte(text), window: fixed(7)}
		got, err := Search(t.Context(), q, o.read)
		if err != nil || len(got.Hits) != 1 {
			t.Fatalf("%+v: %+v, %v", q, got, err)
		}
		if h := got.Hits[0]; h.Start != 3 || h.Length != 5 || !slices.Equal(h.More, []int{10, 6, 21, 7}) {
			t.Errorf("%+v: %+v", q, h)
		}
	}
	o := &output{text: []byte(strings.Repeat("a", 1000)), window: fixed(7)}
	got, err := Search(t.Context(), Query{Pattern: Pattern{Text: "a", Regexp: true}}, o.read)
	if err != nil || len(got.Hits) != 1 || len(got.Hits[0].More) != 2*(maxMatches-1) {
		t.Errorf("a thousand matches: %+v, %v", got, err)
	}
}

func TestSearchBeginsAtALineAndAtTheEnd(t *testing.T) {
	t.Parallel()
	o := &output{text: []byte("hit 1\nhit 2\nhit 3\nhit 4\n"), window: fixed(4)}
	for _, c := range []struct {
		q    Query
		want []int64
	}{
		{Query{Line: 3}, []int64{3, 4}},
		{Query{Line: 3, Backward: true}, []int64{2, 1}},
		{Query{Line: 99}, nil},
		{Query{Line: 99, Backward: true, Limit: 1}, []int64{4}},
		{Query{Offset: -6}, []int64{4}},
		{Query{Line: 3, Backward: true, Count: true}, []int64{2, 1}},
		{Query{Offset: 7}, []int64{3, 4}}, // within line 2
	} {
		c.q.Pattern = Pattern{Text: "HIT"}
		got, err := Search(t.Context(), c.q, o.read)
		if err != nil {
			t.Fatal(err)
		}
		var lines []int64
		for _, h := range got.Hits {
			lines = append(lines, h.Line)
		}
		if !slices.Equal(lines, c.want) {
			t.Errorf("%+v = %v, want %v", c.q, lines, c.want)
		}
	}
}

// The gap between head and tail is no line, and lines after it keep their numbers.
func TestGapIsPassedOver(t *testing.T) {
	t.Parallel()
	store, err := tasklog.Open(tasklog.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	key := tasklog.Key{Instance: 1}
	log := store.NewLog(key, time.Unix(1, 0))
	const count, width = 160_000, 500
	var buf []byte
	for i := range count {
		buf = fmt.Appendf(buf, "%-*s\n", width-1, fmt.Sprintf("line %d bytes are left out here", i+1))
		if len(buf) > 30_000 {
			log.Write(tasklog.Stdout, buf)
			buf = buf[:0]
		}
	}
	log.Write(tasklog.Stdout, buf)
	log.Close()
	read := func(_ context.Context, offset, line int64, limit int) (tasklog.Text, error) {
		return store.Read(key, tasklog.Query{Stream: tasklog.Both, Offset: offset, Line: line, Limit: limit})
	}
	whole, err := Search(t.Context(), Query{Pattern: Pattern{Text: "bytes are left out here"}, Count: true, Limit: 1}, read)
	if err != nil {
		t.Fatal(err)
	}
	gap, err := store.Read(key, tasklog.Query{Stream: tasklog.Both})
	if err != nil || gap.Gap.From == gap.Gap.To || gap.Newlines != count {
		t.Fatalf("%d line ends, gap %+v, %v", gap.Newlines, gap.Gap, err)
	}
	// Pieces end anywhere: up to two lines are cut at the gap.
	if kept := count - (gap.Gap.LinesTo - gap.Gap.LinesFrom); whole.Total < kept-2 || whole.Total > kept {
		t.Errorf("%d hits in %d kept lines", whole.Total, kept)
	}
	for _, backward := range []bool{false, true} {
		q := Query{Pattern: Pattern{Text: "line 159000 "}, Backward: backward, Limit: 1}
		if backward {
			q.Offset = -1
		}
		got, err := Search(t.Context(), q, read)
		if err != nil || len(got.Hits) != 1 || got.Hits[0].Line != 159_000 || got.Hits[0].Offset != 158_999*width {
			t.Errorf("backward %v: %+v, %v", backward, got.Hits, err)
		}
	}
	early, err := Search(t.Context(), Query{Pattern: Pattern{Text: "line 9 "}, Offset: -1, Backward: true}, read)
	if err != nil || len(early.Hits) != 1 || early.Hits[0].Line != 9 {
		t.Errorf("before the gap, backward: %+v, %v", early.Hits, err)
	}
}

func TestBadPatternsAreRefused(t *testing.T) {
	t.Parallel()
	o := &output{text: []byte("x"), window: fixed(9)}
	for _, p := range []Pattern{
		{}, {Text: strings.Repeat("x", MaxPattern+1)}, {Text: "a\nb"}, {Text: "\xff"}, {Text: "(", Regexp: true}, {Text: "a{9999}", Regexp: true}, {Text: "(?<=a)b", Regexp: true},
	} {
		if _, err := Search(t.Context(), Query{Pattern: p}, o.read); !errors.Is(err, ErrPattern) {
			t.Errorf("%.20q = %v", p.Text, err)
		}
	}
}

func TestSearchEndsWithItsReaderAndWithItsTime(t *testing.T) {
	t.Parallel()
	o := &output{text: []byte(strings.Repeat("hit\n", 1000)), window: fixed(40)}
	ctx, cancel := context.WithCancelCause(t.Context())
	reads := 0
	read := func(ctx context.Context, offset, line int64, limit int) (tasklog.Text, error) {
		if reads++; reads == 10 {
			cancel(nil)
		}
		return o.read(ctx, offset, line, limit)
	}
	if _, err := Search(ctx, Query{Pattern: Pattern{Text: "hit"}}, read); !errors.Is(err, context.Canceled) || reads != 10 {
		t.Errorf("cancelled after %d reads: %v", reads, err)
	}
	late, stop := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer stop()
	got, err := Search(late, Query{Pattern: Pattern{Text: "hit"}, Count: true}, o.read)
	if err != nil || got.Whole {
		t.Errorf("out of time = %+v, %v", got, err)
	}
}

func TestLongLinesAreBounded(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 3*maxLine) + " needle " + strings.Repeat("y", 2*maxLine) + " needle"
	o := &output{text: []byte("first\n" + line + "\nneedle\n"), window: fixed(tasklog.MaxRead)}
	got, err := Search(t.Context(), Query{Pattern: Pattern{Text: "needle"}, Count: true}, o.read)
	if err != nil || got.Total != 2 || got.Hits[0].Line != 2 || got.Hits[0].Offset != 6 || got.Hits[1].Line != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("error|warn", true, false, "an ERROR\nwarn\n")
	f.Add("k", false, false, "\u212a\n")
	f.Fuzz(func(t *testing.T, text string, expr, sensitive bool, log string) {
		p := Pattern{Text: text, Regexp: expr, Case: sensitive}
		o := &output{text: []byte(log), window: fixed(5)}
		got, err := Search(t.Context(), Query{Pattern: p, Count: true}, o.read)
		if err != nil {
			if !errors.Is(err, ErrPattern) {
				t.Fatal(err)
			}
			return
		}
		if err := same(got.Hits, naive(log, p), true); err != nil {
			t.Fatalf("%q in %q: %v", text, log, err)
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	store, err := tasklog.Open(tasklog.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	key := tasklog.Key{Instance: 1}
	log := store.NewLog(key, time.Unix(1, 0))
	chance := rand.New(rand.NewPCG(1, 2))
	var buf []byte
	size := int64(0)
	for i := 0; size < 60<<20; i++ {
		buf = fmt.Appendf(buf, "2026-11-21T12:00:00.%03dZ \x1b[32mINFO\x1b[0m worker %d took batch %d of %d rows\n", i%1000, chance.IntN(9), i, chance.IntN(10_000))
		if len(buf) > 30_000 {
			log.Write(tasklog.Stdout, buf)
			size += int64(len(buf))
			buf = buf[:0]
		}
	}
	log.Close()
	read := func(_ context.Context, offset, line int64, limit int) (tasklog.Text, error) {
		return store.Read(key, tasklog.Query{Stream: tasklog.Both, Offset: offset, Line: line, Limit: limit})
	}
	for name, p := range map[string]Pattern{
		"text":        {Text: "no such text", Case: true},
		"any case":    {Text: "no such text"},
		"expression":  {Text: `ERROR \d+: table \S+ does not exist`, Regexp: true, Case: true},
		"errors":      {Text: `\b(error|fatal|exception|traceback|panic)\b`, Regexp: true},
		"no shortcut": {Text: `\d\d:\d\d:\d\d\.\d+[a-y]`, Regexp: true, Case: true},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if got, err := Search(b.Context(), Query{Pattern: p, Count: true}, read); err != nil || got.Total != 0 {
					b.Fatal(got.Total, err)
				}
			}
		})
	}
}
