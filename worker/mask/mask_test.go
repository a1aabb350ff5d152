package mask

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
)

// masked runs a text through a Stream in pieces of the given sizes, over and over.
func masked(s *Set, text string, sizes ...int) string {
	m := s.Stream()
	var out []byte
	for i := 0; len(text) > 0; i++ {
		n := min(max(1, sizes[i%len(sizes)]), len(text))
		out = append(out, m.Write([]byte(text[:n]))...)
		text = text[n:]
	}
	return string(append(out, m.End()...))
}

func TestAValueIsMaskedWhereverItIsCut(t *testing.T) {
	t.Parallel()
	s := New([]string{"hunter22", "unterwegs", "abcabd"})
	for in, want := range map[string]string{
		"password=hunter22\n":          "password=***\n",
		"hunter22hunter22 hunter22":    "*** ***",
		"hunter2 hunterhunter22":       "hunter2 hunter***",
		"hunterwegs and unterwegs":     "h*** and ***",
		"abcabcabd":                    "abc***",
		"hunter2":                      "hunter2",
		"":                             "",
		"hunter22unterwegs\x00\xff":    "***\x00\xff",
		strings.Repeat("hunter2", 900): strings.Repeat("hunter2", 900),
	} {
		for size := 1; size < 12; size++ {
			if got := masked(s, in, size); got != want {
				t.Errorf("%.40q in pieces of %d = %.60q, want %.40q", in, size, got, want)
			}
		}
		if got := s.Text(in); got != want {
			t.Errorf("Text(%.40q) = %.60q, want %.40q", in, got, want)
		}
	}
}

func TestOtherFormsOfAValueAreMasked(t *testing.T) {
	t.Parallel()
	const value = "p&ss\"w/rd \\ <é>?"
	s := New([]string{value})
	quoted, _ := json.Marshal(value)
	for _, in := range []string{
		value, url.QueryEscape(value), url.PathEscape(value), string(quoted),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.URLEncoding.EncodeToString([]byte(value)),
	} {
		if got := s.Text("x " + in + " y"); !strings.Contains(got, Mask) || strings.Contains(got, in) {
			t.Errorf("%q is shown as %q", in, got)
		}
	}
	core := base64.StdEncoding.EncodeToString([]byte(value))[4:16]
	for _, around := range []string{"u:", "me:", "you:", "them:"} {
		in := base64.StdEncoding.EncodeToString([]byte(around + value + "\n"))
		if got := s.Text(in); !strings.Contains(got, Mask) || strings.Contains(got, core) {
			t.Errorf("the base64 of %q is shown as %q", around+value, got)
		}
	}
}

func TestValuesOfManyLinesAreMaskedLineByLine(t *testing.T) {
	t.Parallel()
	key := "-----BEGIN KEY-----\r\n" + strings.Repeat("c2VjcmV0IGxpbmU", 4) + "\n  indented = yes\n}\n-----END KEY-----\n"
	s := New([]string{key})
	got := s.Text("a\n> " + strings.ReplaceAll(key, "\n", "\n> ") + "b")
	for _, line := range []string{"BEGIN", "c2Vj", "indented", "END"} {
		if strings.Contains(got, line) {
			t.Errorf("%q is shown in %q", line, got)
		}
	}
	// As base64 and openssl write it, over several lines.
	long := strings.Repeat("a long value that takes some lines ", 9)
	text := base64.StdEncoding.EncodeToString([]byte(long))
	var lines []string
	for rest := text; rest != ""; rest = rest[min(76, len(rest)):] {
		lines = append(lines, rest[:min(76, len(rest))])
	}
	shown := New([]string{long}).Text(strings.Join(lines, "\n"))
	for _, line := range lines[:len(lines)-1] {
		if strings.Contains(shown, line) {
			t.Errorf("the line %q is shown", line)
		}
	}
}

func TestWithoutSecretsNothingChanges(t *testing.T) {
	t.Parallel()
	s := New(nil)
	if s.Holds("x") || s.Text("hunter22") != "hunter22" || masked(s, "hunter22", 3) != "hunter22" {
		t.Error("a text without secrets was changed")
	}
}

// The memory of a stream is bounded by the longest form, whatever comes.
func TestAStreamHoldsBackLittle(t *testing.T) {
	t.Parallel()
	value := strings.Repeat("a", 4000)
	m := New([]string{value}).Stream()
	out := 0
	for range 1000 {
		out += len(m.Write([]byte(value[:3999])))
		out += len(m.Write([]byte("b")))
	}
	if len(m.held) > len(value) || out < 3_900_000 {
		t.Errorf("%d bytes are held, %d went out", len(m.held), out)
	}
}

// FuzzSplits holds the stream to what matters: however the text is cut, no value is in what
// goes out, and it is what the whole text at once would give.
func FuzzSplits(f *testing.F) {
	f.Add("hunter22", "unter", "xhunter22unterhunter2", uint64(1))
	f.Add("aaaa", "aaab", "aaaaaaaabaaaa", uint64(2))
	f.Add("line one\nline two", "abcd", "a line one\n b line two line one\nline two", uint64(3))
	f.Fuzz(func(t *testing.T, one, two, text string, seed uint64) {
		if strings.ContainsAny(one+two, "*") || len(one) < minForm || len(two) < minForm || strings.TrimSpace(one) == "" || strings.TrimSpace(two) == "" {
			t.Skip() // no value that CheckSecret takes; the mask itself may complete one with asterisks
		}
		r := rand.New(rand.NewPCG(seed, 1))
		// Values come often and in parts, else chance would find none.
		for range r.IntN(8) {
			at := r.IntN(len(text) + 1)
			part := []string{one, two}[r.IntN(2)]
			text = text[:at] + part[r.IntN(2)*r.IntN(len(part)):] + text[at:]
		}
		s := New([]string{one, two})
		sizes := make([]int, 1+r.IntN(20))
		for i := range sizes {
			sizes[i] = 1 + r.IntN(1+r.IntN(12))
		}
		whole := masked(s, text, max(1, len(text)))
		got := masked(s, text, sizes...)
		if got != whole {
			t.Fatalf("in pieces of %v: %q, at once: %q", sizes, got, whole)
		}
		for _, value := range []string{one, two} {
			if strings.Contains(got, value) {
				t.Fatalf("the value %q is in %q", value, got)
			}
		}
		if strings.ReplaceAll(text, "*", "") == text && !strings.Contains(got, Mask) && got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

// BenchmarkStream is what masking costs beside the writing of the log: text as programs write it, with
// one value and with many, and the worst, which is all beginnings of a value.
func BenchmarkStream(b *testing.B) {
	line := []byte(`2026-01-02T03:04:05.678Z INFO  order stored order=481516 customer=2342 took=12ms path=/api/v1/orders` + "\n")
	log := bytes.Repeat(line, 64<<10/len(line))
	many := make([]string, 20)
	for i := range many {
		many[i] = fmt.Sprintf("s3cr3t-%d-%x", i, i*7919)
	}
	for _, c := range []struct {
		name   string
		values []string
		data   []byte
	}{
		{"OneValue", []string{"correct horse battery"}, log},
		{"TwentyValues", many, log},
		{"Key", []string{strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n", 30)}, log},
		{"AllBeginnings", []string{"aaaaaaaaaaaaaaab"}, bytes.Repeat([]byte("a"), 64<<10)},
		{"AllValues", []string{"hunter22"}, bytes.Repeat([]byte("hunter22 "), 7000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := New(c.values).Stream()
			b.SetBytes(int64(len(c.data)))
			b.ReportAllocs()
			for b.Loop() {
				m.Write(c.data)
			}
		})
	}
}
