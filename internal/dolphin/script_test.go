package dolphin

import (
	"testing"

	"github.com/porpoise/porpoise/dag/document"
)

func TestScriptsAreRawWhereNothingExpandsTheirParameters(t *testing.T) {
	t.Parallel()
	known := func(was string) (asText, ok bool) {
		asText, ok = map[string]bool{"day": false, "my-name": true, "load.rows": true}[was]
		return asText, ok
	}
	for script, want := range map[string]bool{
		"echo ${day}":                              false,
		`echo "${day}" '$other'`:                   false,
		"echo '${day}'":                            true,
		"echo '${nobody}'":                         false,
		`echo "it's ${day}"`:                       false,
		`echo it\'s ${day}`:                        false,
		`echo \${day}`:                             true,
		`echo "'${day}'"`:                          false,
		"echo 'a' ${day} 'b'":                      false,
		"# don't\necho ${day}":                     false,
		"echo a#b's ${day}'":                       true,
		"cat <<EOF\n${day}\nEOF\n":                 false,
		"cat <<'EOF'\n${day}\nEOF\n":               true,
		"cat <<-\"EOF\"\n\t${day}\n\tEOF\n":        true,
		"cat <<'EOF'\nx\nEOF\necho ${day}":         false,
		"cat <<'A' <<'B'\nx\nA\n${day}\nB\n":       true,
		"cat <<< '${day}'":                         true,
		"cat <<<\"${day}\"":                        false,
		"echo $[yyyyMMdd]":                         true,
		"echo $[1+2]":                              false,
		"echo ${system.biz.date}":                  true,
		"echo ${my-name}":                          true,
		"echo ${load.rows}":                        true,
		"echo '${setValue(a=1)}'":                  false,
		"select !{table}":                          true,
		"x='unclosed ${day}":                       true,
		"echo ${day:-none}":                        false,
		"awk '{print $1}' f | sed \"s/x/${day}/\"": false,
	} {
		if got := usesReplacement(script, known, shellExpands); got != want {
			t.Errorf("raw of %q is %t, want %t", script, got, want)
		}
	}
}

func TestValuesThatAreCommandsWantRaw(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"2026": false, "a b": false, "ls | wc": true, "$(date)": true, "$[yyyyMMdd]": false, "it's": true} {
		w := writing{t: &task{flow: &flow{}}, globals: params{{was: "x", name: "x", value: value}}}
		if got := usesReplacement("echo ${x}", w.replaced, shellExpands); got != want {
			t.Errorf("raw with the value %q is %t, want %t", value, got, want)
		}
	}
}

// FuzzMarshal holds that what is written is read as the same again.
func FuzzMarshal(f *testing.F) {
	for _, text := range []string{
		"plain", "yes", "0x1f", "1_000", "1:30", "~", "null", "- a", "a: b", "# c", " lead", "trail ", "tab\t", "line\nline", "line\n\n\n", "\nfirst", "  two\nlines",
		"crlf\r\nx", "\x00\x7f\u0085\u2028\ufeff", "'single'", `"double"`, "{flow}", "[1]", "*a", "&a", "!t", "|", ">", "%x", "@x", "`x", "2001-01-01", "é", "\t\n", "a \nb", "- ", "---", "...\n---\n",
	} {
		f.Add(text, "key")
	}
	f.Fuzz(func(t *testing.T, text, key string) {
		if key == "" {
			key = "k"
		}
		text, key = valid(text), valid(key)
		written, err := marshal(mapping{{"a", text}, {"m", mapping{{key, mapping{{"x", text}, {"l", []string{text}}}}}}, {"t", list{mapping{{"b", text}}}}})
		if err != nil {
			t.Fatal(err)
		}
		root, errs := document.Read(written, "yaml")
		if len(errs) > 0 {
			for _, e := range errs {
				if e.Code != document.CodeEncoding { // NUL and the like are refused however they are written
					t.Fatalf("%v\n%s", errs, written)
				}
			}
			return
		}
		inner := root.Get("m").Get(key)
		for _, n := range []*document.Node{root.Get("a"), inner.Get("x"), &inner.Get("l").Items[0], root.Get("t").Items[0].Get("b")} {
			if n.Text != text || n.Kind != document.String {
				t.Fatalf("%q was read as %q, %v, from\n%s", text, n.Text, n.Kind, written)
			}
		}
	})
}

func valid(text string) string { return string([]rune(text)) }
