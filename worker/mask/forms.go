package mask

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

const (
	// minForm is the shortest text that is taken out: what is shorter stands in any text by chance.
	minForm = 4
	// maxEncoded bounds the values whose encodings are found, too: they are many times as long together, and
	// all of them are in memory for as long as the task runs.
	maxEncoded = 8 << 10
	// base64Line is where base64 and openssl begin a new line.
	base64Line = 76
)

// forms lists what of a value must not be seen: itself, each of its lines, and its encodings.
func forms(value string) []string {
	var out []string
	add := func(form string) {
		if len(form) >= minForm && strings.TrimSpace(form) != "" {
			out = append(out, form)
		}
	}
	add(value)
	for line := range strings.SplitSeq(value, "\n") {
		add(strings.Trim(line, " \t\r"))
	}
	if len(value) > maxEncoded {
		return out
	}
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			text := inBase64(alphabet, value, shift)
			add(text)
			for rest := text; len(rest) > base64Line; {
				add(rest[:base64Line])
				rest = rest[base64Line:]
				add(rest[:min(base64Line, len(rest))])
			}
		}
	}
	add(url.QueryEscape(value))
	add(url.PathEscape(value))
	if text, err := json.Marshal(value); err == nil {
		add(string(text[1 : len(text)-1]))
	}
	var plain strings.Builder
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err == nil {
		add(strings.TrimSuffix(plain.String(), "\"\n")[1:])
	}
	return out
}

// inBase64 is what of the value's base64 does not depend on what stands around it, where shift bytes (of every three)
// stand before it: as in user:value of HTTP's basic authentication.
func inBase64(alphabet *base64.Encoding, value string, shift int) string {
	bytes := append(make([]byte, shift), value...)
	text := alphabet.EncodeToString(bytes)
	return text[(shift*8+5)/6 : len(bytes)*8/6]
}
