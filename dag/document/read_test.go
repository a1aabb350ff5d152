package document

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

type wrong struct {
	line, column int
	field, code  string
	says         string
}

func checkErrors(t *testing.T, got []FieldError, want ...wrong) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("missing error: %+v", want[i])
		case i >= len(want):
			t.Errorf("unwanted error: %d:%d %s [%s] %s", got[i].Line, got[i].Column, got[i].Field, got[i].Code, got[i].Message)
		default:
			g, w := got[i], want[i]
			if g.Line != w.line || g.Column != w.column || g.Field != w.field || g.Code != w.code || !strings.Contains(g.Message, w.says) {
				t.Errorf("error = %d:%d %s [%s] %s, want %+v", g.Line, g.Column, g.Field, g.Code, g.Message, w)
			}
		}
	}
}

func TestJSONIsReadStrictly(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 65) + strings.Repeat("]", 65)
	tests := []struct {
		name, text string
		want       wrong
	}{
		{"empty", "", wrong{1, 1, "body", "syntax", "byte 0"}},
		{"blank", " \n\t", wrong{1, 1, "body", "syntax", "byte 0"}},
		{"not JSON", "name: x", wrong{1, 1, "body", "syntax", "'n' cannot begin a value (byte 0)"}},
		{"truncated object", `{"a": 1`, wrong{1, 8, "body", "syntax", "begins at byte 0 has no end (byte 7)"}},
		{"truncated list", "[1,\n 2", wrong{2, 3, "body", "syntax", "no end"}},
		{"truncated string", `{"a": "x`, wrong{1, 9, "body", "syntax", "the string that begins at byte 6"}},
		{"truncated word", `{"a": tru`, wrong{1, 7, "body", "syntax", "'t' cannot begin"}},
		{"missing value", `{"a":}`, wrong{1, 6, "body", "syntax", "'}' cannot begin"}},
		{"trailing comma", `[1,]`, wrong{1, 4, "body", "syntax", "']'"}},
		{"trailing comma in an object", `{"a":1,}`, wrong{1, 8, "body", "syntax", "key in double quotes"}},
		{"trailing data", "{}\n{}", wrong{2, 1, "body", "syntax", "after the end of the document (byte 3)"}},
		{"missing colon", `{"a" 1}`, wrong{1, 6, "body", "syntax", "a colon"}},
		{"missing comma", `{"a":1 "b":2}`, wrong{1, 8, "body", "syntax", "a comma"}},
		{"comment", "{} // x", wrong{1, 4, "body", "syntax", "after the end"}},
		{"byte order mark", "\xef\xbb\xbf{}", wrong{1, 1, "body", "encoding", "byte order mark"}},
		{"invalid UTF-8", "{\n\"ä\": \"\xff\"}", wrong{2, 7, "body", "encoding", "not valid UTF-8 (byte 9)"}},
		{"surrogate as UTF-8", "\"\xed\xa0\x80\"", wrong{1, 2, "body", "encoding", "not valid UTF-8"}},
		{"lone high surrogate", `{"a":"\ud800"}`, wrong{1, 7, "body", "encoding", "surrogate"}},
		{"lone low surrogate", `"\udc00"`, wrong{1, 2, "body", "encoding", "surrogate"}},
		{"high surrogate before another escape", `"\ud800A"`, wrong{1, 2, "body", "encoding", "surrogate"}},
		{"NUL byte", "{\"a\":\"\x00\"}", wrong{1, 7, "body", "encoding", "NUL"}},
		{"NUL escape", `{"a":"\u0000"}`, wrong{1, 7, "body", "encoding", "NUL"}},
		{"control character", "\"a\tb\"", wrong{1, 3, "body", "syntax", "control character"}},
		{"unknown escape", `"\x41"`, wrong{1, 2, "body", "syntax", "not an escape"}},
		{"short escape", `"\u00`, wrong{1, 2, "body", "syntax", "four hexadecimal"}},
		{"leading zero", `[007]`, wrong{1, 2, "body", "syntax", "007"}},
		{"plus sign", `[+1]`, wrong{1, 2, "body", "syntax", "cannot begin"}},
		{"bare fraction", `[.5]`, wrong{1, 2, "body", "syntax", "cannot begin"}},
		{"open fraction", `[1.]`, wrong{1, 2, "body", "syntax", "1."}},
		{"open exponent", `[1e]`, wrong{1, 2, "body", "syntax", "1e"}},
		{"NaN", `[NaN]`, wrong{1, 2, "body", "syntax", "cannot begin"}},
		{"duplicate key", "{\"a\": 1,\n \"a\": 2}", wrong{2, 2, "a", "duplicate_key", `"a" stands here twice`}},
		{"duplicate key further down", `{"a": [{"b c": {"d": 1, "d": 2}}]}`, wrong{1, 25, `a[0]["b c"].d`, "duplicate_key", ""}},
		{"nesting of 65", deep, wrong{1, 65, "body", "too_deep", "64"}},
		{"100000 deep", strings.Repeat("[", 100_000), wrong{1, 65, "body", "too_deep", "64"}},
		{"unknown format", "x", wrong{0, 0, "body", "unknown_format", "yaml or json"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			format := JSON
			if test.name == "unknown format" {
				format = "toml"
			}
			_, errs := Read([]byte(test.text), format)
			checkErrors(t, errs, test.want)
		})
	}
}

func TestYAMLIsReadStrictly(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []wrong
	}{
		{"empty", "", []wrong{{1, 1, "body", "syntax", "empty"}}},
		{"comments alone", "# x\n", []wrong{{1, 1, "body", "syntax", "empty"}}},
		{"byte order mark", "\xef\xbb\xbfa: 1", []wrong{{1, 1, "body", "encoding", "byte order mark"}}},
		{"UTF-16", "\xff\xfea\x00", []wrong{{1, 1, "body", "encoding", "UTF-8"}}},
		{"invalid UTF-8", "a: 1\nb: \xff", []wrong{{2, 4, "body", "encoding", "UTF-8"}}},
		{"colon in a plain text", "a: 1\nb: c: d\n", []wrong{{2, 1, "body", "syntax", "in quotes"}}},
		{"tab", "a: 1\n\tb: 2\n", []wrong{{2, 1, "body", "syntax", "tab"}}},
		{"anchor and alias", "a: &x 1\nb: *x\n", []wrong{{1, 4, "a", "yaml_feature", "anchors"}, {2, 4, "b", "yaml_feature", "aliases"}}},
		{"unknown alias", "a: *x\n", []wrong{{1, 1, "body", "yaml_feature", "x"}}},
		{"anchor on a map", "a: &x\n  b: 1\n", []wrong{{1, 4, "a", "yaml_feature", "anchors"}}},
		{"merge key", "a:\n  <<: {b: 1}\n", []wrong{{2, 3, "a", "yaml_feature", "merge keys"}}},
		{"quoted merge key is a key", "\"<<\": 1", nil},
		{"tags", "a: !!str 1\nb: !own {c: 1}\n", []wrong{{1, 4, "a", "yaml_feature", "!!str"}, {2, 4, "b", "yaml_feature", "!own"}}},
		{"binary", "a: !!binary aGk=\n", []wrong{{1, 4, "a", "yaml_feature", "tags"}}},
		{"two documents", "a: 1\n---\nb: 2\n", []wrong{{2, 1, "body", "yaml_feature", "more than one document"}}},
		{"directive", "# x\n\n%YAML 1.1\n---\na: 1\n", []wrong{{3, 1, "body", "yaml_feature", "directives"}}},
		{"directive between documents", "a: 1\n...\n%TAG ! x\n---\na: 1\n", []wrong{{3, 1, "body", "yaml_feature", "directives"}}},
		{"directive after another line break", "#\u2028%TAG ! x\n---\na: 1\n", []wrong{{1, 3, "body", "yaml_feature", "directives"}}},
		{"a percent sign in a text", "a: \"x\n%y\"\n", nil},
		{"duplicate keys", "a: 1\nb: {c: 1, c: 2}\na: 3\n", []wrong{{2, 11, "b.c", "duplicate_key", ""}, {3, 1, "a", "duplicate_key", ""}}},
		{"a list as a key", "? [a]\n: b\n", []wrong{{1, 3, "body", "yaml_feature", "not a list"}}},
		{"NUL escape", `a: "\0"`, []wrong{{1, 4, "a", "encoding", "NUL"}}},
		{"NUL in a key", `"a\0": 1`, []wrong{{1, 1, "body", "encoding", "NUL"}}},
		{"nesting of 65", strings.Repeat("[", 65) + strings.Repeat("]", 65), []wrong{{1, 65, deepPath(64), "too_deep", "64"}}},
		{"nesting of 64", strings.Repeat("[", 64) + strings.Repeat("]", 64), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, errs := Read([]byte(test.text), YAML)
			checkErrors(t, errs, test.want...)
		})
	}
}

func deepPath(n int) string { return strings.Repeat("[0]", n) }

func TestScalarsKeepTheirTextAndKind(t *testing.T) {
	t.Parallel()
	text := "{a: x, b: '1', c: 1, d: 007, e: .nan, f: 1e400, g: true, h: Yes, i: ~, j: null, k: , l: 2024-01-01, m: 0x10, n: 1_000, o: \"\", p: -.inf, q: 1.50}"
	n, errs := Read([]byte(text), YAML)
	checkErrors(t, errs)
	want := map[string]struct {
		kind Kind
		text string
	}{
		"a": {String, "x"}, "b": {String, "1"}, "c": {Number, "1"}, "d": {Number, "007"}, "e": {Number, ".nan"}, "f": {Number, "1e400"},
		"g": {Bool, "true"}, "h": {String, "Yes"}, "i": {Null, "~"}, "j": {Null, "null"}, "k": {Null, ""}, "l": {String, "2024-01-01"},
		"m": {String, "0x10"}, "n": {String, "1_000"}, "o": {String, ""}, "p": {Number, "-.inf"}, "q": {Number, "1.50"},
	}
	for key, w := range want {
		if got := n.Get(key); got == nil || got.Kind != w.kind || got.Text != w.text {
			t.Errorf("%s = %+v, want %v %q", key, got, w.kind, w.text)
		}
	}
	j, errs := Read([]byte(`{"a": "é\u00e9\ud83d\ude00\n\/", "b": -1.5e+10, "c": false, "d": null, "e": [], "f": {}}`), JSON)
	checkErrors(t, errs)
	if got := j.Get("a").Text; got != "éé😀\n/" {
		t.Errorf("a = %q", got)
	}
	if got := j.Get("b"); got.Kind != Number || got.Text != "-1.5e+10" {
		t.Errorf("b = %+v", got)
	}
}

func TestLocateFindsTheNearestPlace(t *testing.T) {
	t.Parallel()
	for format, text := range map[string]string{
		YAML: "a:\n  - b: 1\n    \"c d\": 2\n",
		JSON: "{\"a\":\n  [{\"b\": 1,\n    \"c d\": 2}]}",
	} {
		n, errs := Read([]byte(text), format)
		checkErrors(t, errs)
		for _, test := range []struct {
			field string
			line  int
		}{{"a[0].b", 2}, {`a[0]["c d"]`, 3}, {"a[0].zzz", 2}, {"a[7].b", 2}, {"x", 1}, {"", 1}, {"body", 1}, {"a[", 2}} {
			if line, _ := n.Locate(test.field); line != test.line {
				t.Errorf("%s: Locate(%s) = line %d, want %d", format, test.field, line, test.line)
			}
		}
	}
}

func TestColumnsCountCharacters(t *testing.T) {
	t.Parallel()
	n, _ := Read([]byte(`{"ä": 1, "😀": [true, {"x": 2}]}`), JSON)
	if got := n.Get("😀").Items[1].Get("x"); got.Line != 1 || got.Column != 28 {
		t.Errorf("x stands at %d:%d, want 1:28", got.Line, got.Column)
	}
}

// TestHostileTextsAreRefusedQuickly gives each kind of bomb that we know of.
func TestHostileTextsAreRefusedQuickly(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 9))
	}
	var directives strings.Builder
	for i := range 500_000 {
		fmt.Fprintf(&directives, "%%TAG !%d! x\n", i)
	}
	for name, text := range map[string]string{
		"directives":            directives.String() + "---\na\n",
		"directives further on": "a\n...\n" + directives.String() + "---\na\n",
		"alias bomb":            bomb,
		"flow depth":            strings.Repeat("[", MaxText),
		"flow map depth":        strings.Repeat("{a: ", MaxText/4),
		"block depth":           strings.Repeat("- ", MaxText/2),
		"commas":                "[" + strings.Repeat("a,", MaxText/2-2) + "a]",
		"keys":                  strings.Repeat("a:\n", MaxText/3),
		"over the limit":        strings.Repeat("a", MaxText+1),
		"keys on unusual lines": strings.Repeat("a:\u0085", MaxText/4),
		"question marks":        strings.Repeat("? ", MaxText/2),
		"quotes":                strings.Repeat("\"a\" ", MaxText/4),
		"open block of one key": "a: " + strings.Repeat("'", MaxText-3),
	} {
		for _, format := range []string{YAML, JSON} {
			start := time.Now()
			n, errs := Read([]byte(text), format)
			if n != nil || len(errs) == 0 || len(errs) > MaxErrors {
				t.Errorf("%s as %s: %d errors", name, format, len(errs))
			}
			t.Logf("%s as %s: %s, %s", name, format, time.Since(start).Round(time.Millisecond), errs[0].Message)
		}
	}
}

func TestShownIsShortAndHarmless(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain":                  "plain",
		"a\nb\x1b[31m\u202e":     `a\nb\x1b[31m\u202e`,
		strings.Repeat("x", 64):  strings.Repeat("x", 64),
		strings.Repeat("é", 65):  strings.Repeat("é", 63) + "…",
		strings.Repeat("\n", 40): strings.Repeat(`\n`, 31) + `\…`,
		"\xff":                   `\xff`,
	} {
		if got := Shown(in); got != want {
			t.Errorf("Shown(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDurationsHaveOneForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "90s": 90 * time.Second, "10m": 10 * time.Minute, "2h": 2 * time.Hour, "1d": 24 * time.Hour,
		"1h30m": 90 * time.Minute, "1d2h3m4s5ms": 26*time.Hour + 3*time.Minute + 4*time.Second + 5*time.Millisecond,
		"500ms": 500 * time.Millisecond, "-5m": -5 * time.Minute, "106751d": 106751 * 24 * time.Hour,
	} {
		got, err := ParseDuration(text)
		if err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", text, got, err, want)
		}
		if again, err := ParseDuration(FormatDuration(got)); err != nil || again != got {
			t.Errorf("ParseDuration(FormatDuration(%v)) = %v, %v", got, again, err)
		}
	}
	for text, want := range map[string]error{
		"": ErrDuration, "-": ErrDuration, "1": ErrDuration, "s": ErrDuration, "1.5h": ErrDuration, "1m1h": ErrDuration, "1h1h": ErrDuration,
		"1 h": ErrDuration, "1H": ErrDuration, "1w": ErrDuration, "1us": ErrDuration, "--1s": ErrDuration, "1h-1m": ErrDuration, "+1s": ErrDuration,
		"106752d": ErrDurationRange, "99999999999999999999s": ErrDurationRange, "106751d24h": ErrDurationRange,
		"99999999999999999999x": ErrDuration,
	} {
		if got, err := ParseDuration(text); !errors.Is(err, want) {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestNearestKnowsSlipsOfThePen(t *testing.T) {
	t.Parallel()
	known := []string{"name", "needs", "params", "worker_group", "timeout"}
	for text, want := range map[string]string{
		"naem": "name", "need": "needs", "parms": "params", "worker-group": "worker_group", "workergroup": "worker_group",
		"time_out": "timeout", "x": "", "zzzzzz": "", "Needs": "needs",
	} {
		if got := Nearest(text, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", text, got, want)
		}
	}
}
