package apiserver

import (
	"bytes"
	"encoding/json"
	"strconv"
	"testing"
	"unicode/utf8"
)

// FuzzCheckJSON holds the check against encoding/json: what the check lets pass, the
// decoder must be able to read; what the decoder refuses, the check must refuse.
func FuzzCheckJSON(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1,2,{"b":null}]}`, `{"a":1,"a":2}`, `"\ud800"`, `"\ud83d\ude00"`, `1e400`, `[`, `{"a"}`, ` true `, "\xef\xbb\xbf{}", `{"\u0061":1,"a":2}`, `01`, `-`, `"` + "\xff" + `"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p := checkJSON(body)
		if p == nil {
			var v any
			if err := json.Unmarshal(body, &v); err != nil {
				t.Fatalf("checkJSON lets %q pass, which is %v", body, err)
			}
			if !utf8.Valid(body) {
				t.Fatalf("checkJSON lets invalid UTF-8 pass: %q", body)
			}
			return
		}
		if p.Status != 400 || len(p.Errors) == 0 || len(p.Errors) > maxErrors {
			t.Fatalf("checkJSON(%q) = %+v", body, p)
		}
		if !utf8.Valid(marshalJSON(p)) {
			t.Fatalf("the answer to %q is not UTF-8", body)
		}
	})
}

// FuzzParseID holds ids to one form: what is read is written back as it was.
func FuzzParseID(f *testing.F) {
	for _, s := range []string{"1", "0", "-1", "9223372036854775807", "9223372036854775808", "1e3", " 1", "0x1", "01"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := parseID(text)
		if ok && (n <= 0 || strconv.FormatInt(n, 10) != text) {
			t.Fatalf("parseID(%q) = %d", text, n)
		}
		if v, err := strconv.ParseInt(text, 10, 64); !ok && err == nil && v > 0 && strconv.FormatInt(v, 10) == text {
			t.Fatalf("parseID refuses %q", text)
		}
	})
}

// FuzzShown makes sure that no value breaks out of the answer that repeats it.
func FuzzShown(f *testing.F) {
	f.Add("a\r\nb")
	f.Add("\u202e\xff")
	f.Fuzz(func(t *testing.T, text string) {
		s := shown(text)
		if !utf8.ValidString(s) || bytes.ContainsAny([]byte(s), "\r\n\x00\x1b") || len(s) > 8*maxErrorValue {
			t.Fatalf("shown(%q) = %q", text, s)
		}
	})
}
