package dag

import (
	"strings"
	"testing"
)

func TestNamesOfAnyScriptAreTaken(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "A-1", "daily_sales", "日次売上", "продажи 2024", "مبيعات", "हिन्दी", "ไทย", "é", "x.y", "_x", "1", "a b", strings.Repeat("売", 128)} {
		if errs := CheckName("name", name); errs != nil {
			t.Errorf("CheckName(%q) = %v", name, errs)
		}
	}
	for _, name := range []string{"", " ", "\t", "-a", ".a", "..", " a", "a ", "a/b", `a\b`, "a\nb", "a\x00", "a\u200bb", "a\u202eb", "a\u2066b", "\ufeffa", "e\u0301", "\u0301", "😀", "a:b", "a$b", "a\xff", "a\u00a0b", strings.Repeat("a", 129)} {
		errs := CheckName("name", name)
		if len(errs) != 1 || errs[0].Field != "name" || errs[0].Code == "" {
			t.Errorf("CheckName(%q) = %v, want one error", name, errs)
		}
	}
}

func TestNamesThatLookTheSameFoldToOne(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"Sales", "sales"}, {"STRASSE", "straße"}, {"é", "e\u0301"}, {"É", "é"}, {"ΣΑΣ", "σας"}, {"Москва", "МОСКВА"}, {"ǅ", "ǆ"}} {
		if a, b := FoldName(pair[0]), FoldName(pair[1]); a != b {
			t.Errorf("FoldName(%q) = %q, FoldName(%q) = %q", pair[0], a, pair[1], b)
		}
	}
	for _, pair := range [][2]string{{"a", "b"}, {"a b", "ab"}, {"売", "買"}} {
		if FoldName(pair[0]) == FoldName(pair[1]) {
			t.Errorf("FoldName takes %q and %q for one", pair[0], pair[1])
		}
	}
	for _, name := range []string{"Ä", "ΐ", "ŉ", "ﬁ", "ẞ"} {
		if once := FoldName(name); FoldName(once) != once {
			t.Errorf("FoldName(%q) = %q folds again to %q", name, once, FoldName(once))
		}
	}
}

func TestPriorityWordsAreReadAndWritten(t *testing.T) {
	t.Parallel()
	for p := PriorityHighest; p <= PriorityLowest; p++ {
		if got, ok := ParsePriority(p.String()); !ok || got != p {
			t.Errorf("ParsePriority(%q) = %v, %v", p.String(), got, ok)
		}
	}
	if _, ok := ParsePriority("urgent"); ok {
		t.Error("urgent is a priority")
	}
}
