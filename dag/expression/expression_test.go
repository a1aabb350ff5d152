package expression_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/porpoise/porpoise/dag/expression"
)

// refusal is what Compile says of a text.
func refusal(t *testing.T, text string) *expression.Error {
	t.Helper()
	e, err := expression.Compile(text)
	if err == nil {
		t.Fatalf("Compile(%q) is accepted, want an error; it reads %q", text, e.Names())
	}
	var wrong *expression.Error
	if !errors.As(err, &wrong) {
		t.Fatalf("Compile(%q) = %T, want an *expression.Error", text, err)
	}
	return wrong
}

func TestWhatIsNotOfTheLanguageIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text    string
		offset  int
		message string
	}{
		{"", 0, "is empty"},
		{" \n", 0, "is empty"},
		{"a\xff", 0, "not valid UTF-8"},
		{strings.Repeat("a", expression.MaxText+1), expression.MaxText, "at most 4096"},
		{"a == 1; b", 6, "only one expression"},
		{"日 == 1 | b", 9, "no pipes"},
		{"a = 1", 2, "write =="},
		{"x ? if", 4, "there is no if"},
		{"a?.b", 1, "?. is not known"},
		{"1..3", 1, "no ranges"},
		{"a ^ b", 2, "write **"},
		{"a & b", 2, "write &&"},
		{"$env", 0, "no name"},
		{"${a", 0, "no closing brace"},
		{"${ }", 0, "names nothing"},
		{"${a}${b} > 3", 0, "operator is missing"},
		{"x${a}", 1, "operator is missing"},
		{`"${a"`, 0, "no closing brace"},
		{`"${}"`, 0, "names nothing"},
		{"${a'b}", 0, "is no name"},
		{"all(a, # > 1)", 7, "no closures"},
		{"all(a, true)", 0, "no function"},
		{"filter(a, {true})", 0, "no function"},
		{"now()", 0, "no function"},
		{"f(1)", 0, "no function"},
		{"x.f(1)", 2, "no method"},
		{"x.includes()", 2, "takes 1 arguments, not 0"},
		{"int()", 0, "takes 1 argument"},
		{"a[1:2]", 1, "[from:to]"},
		{`b"x"`, 0, "bytes"},
		{"undefined", 0, "?? default"},
		{"a < b < c", 4, "chain"},
		{"a ?: b", 0, "chain"},
		{`task("x")`, 0, "is followed by"},
		{`task(x).state`, 0, "in quotes"},
		{`task("${x}").state`, 0, "in quotes"},
		{`task("x")[y]`, 9, "written out"},
		{"a matches b", 2, "written out"},
		{`a matches 5`, 2, "in quotes"},
		{`a matches "(a{500}){2}b{500}"`, 10, "too large"},
		{`a matches "("`, 10, "does not parse"},
		{"[1] > 2", 0, "> takes"},
		{"a && [1]", 5, "&& takes a boolean or a text here, not a list"},
		{"5 contains 'x'", 0, "contains takes a text or a list"},
		{"!5", 1, "! takes"},
		{"5 ? 1 : 2", 0, "? takes"},
		{"a in 'abc'", 5, "in takes a list or a map"},
		{"{(a == 1): 2}", 4, "key"},
		{"'abc' > 5", 6, "two numbers or two texts"},
		{"0 - 9223372036854775807 - 1 - 'x'", 28, "two numbers"},
		{"1 + 99999999999999999999", 23, "invalid integer literal"},
		{"1 % 0", 2, "% by zero"},
		{"10.0 ** 400", 5, "no number that can be kept"},
		{"int(1e19)", 0, "too large for a whole number"},
		{"a ==", 3, "ends too early"},
		{"(a", 1, "ends too early"},
		{"a b", 2, `unexpected "b"`},
		{"1 + 'a", 4, "no closing quote"},
		{"a === b === ", 11, "ends too early"},
	} {
		got := refusal(t, c.text)
		if got.Offset != c.offset || !strings.Contains(got.Message, c.message) {
			t.Errorf("Compile(%.40q) = %q at %d, want %q at %d", c.text, got.Message, got.Offset, c.message, c.offset)
		}
	}
}

func TestConditionIsTrueOrFalse(t *testing.T) {
	t.Parallel()
	for text, message := range map[string]string{
		"1": "always a number", "nil": "always nil", `"yes"`: `always the text "yes"`, "[true]": "always a list", "{a: 1}": "always a map",
		"a - 1": "always a number", "t.state": "compare it", `task("t").attempts`: "compare it", "a.length": "always a number", "x ? 1 : [2]": "always a number or a list",
	} {
		if _, err := expression.Condition(text); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("Condition(%s) = %v, want an error with %q", text, err, message)
		}
	}
	for _, text := range []string{"true", `"false"`, "a", `"${a}"`, "a > 1", "a ?? 1", "x ? 1 : a", "!a", "a in [1]", "a + b"} {
		if _, err := expression.Condition(text); err != nil {
			t.Errorf("Condition(%s) = %v, want none", text, err)
		}
	}
	for text, want := range map[string]string{"debug": "true", `"${debug}"`: "true", "region": "", "missing": "", "missing ?? false": "false", "rows > 3": "true"} {
		e, err := expression.Condition(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Decide(known())
		if (err != nil) != (want == "") || err == nil && fmt.Sprint(got) != want {
			t.Errorf("Decide(%s) = %v, %v, want %s", text, got, err, want)
		}
	}
}

func TestNamesAndTasksAreWhatIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text         string
		names, tasks []string
	}{
		{"1 + 2", nil, nil},
		{"b > a && a > 1", []string{"a", "b"}, nil},
		{"load.rows + x.length", []string{"load.rows", "x"}, nil},
		{`load.state == "success" && ${load all.exit_code} in [0, 3]`, nil, []string{"load", "load all"}},
		{`task("a.b").reason == task("c").rows`, []string{"c.rows"}, []string{"a.b"}},
		{`"${x} and ${load.state}" == a["k"] ?? "$${y}"`, []string{"a", "x"}, []string{"load"}},
		{"system.biz.date == x.includes('a')", []string{"system.biz.date", "x"}, nil},
		{"${a}.b.c", []string{"a"}, nil},
		{"true ? nil : null", nil, nil},
	} {
		e, err := expression.Compile(c.text)
		if err != nil {
			t.Errorf("Compile(%s) = %v", c.text, err)
			continue
		}
		if !slices.Equal(e.Names(), c.names) || !slices.Equal(e.Tasks(), c.tasks) {
			t.Errorf("%s reads names %q and tasks %q, want %q and %q", c.text, e.Names(), e.Tasks(), c.names, c.tasks)
		}
	}
}

func TestEvaluationSaysWhatFailsAndWhere(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("a", expression.MaxResult)
	values := expression.Values{Param: func(name string) (any, bool) {
		v, ok := map[string]any{
			"text": "abc", "list": []string{"x"}, "map": map[string]string{"k": "v"}, "large": large, "odd": struct{}{}, "inf": math.Inf(1),
			"items": []any{struct{}{}, nil}, "none": nil, "least": math.MinInt64, "deep": deep(100),
		}[name]
		return v, ok
	}}
	for _, c := range []struct {
		text    string
		offset  int
		message string
	}{
		{"1 > a.b", 4, `no value for "a.b"`},
		{"load.state == 'x'", 0, `no task "load"`},
		{"map.x", 0, `no member "x"`},
		{"map['x']", 3, `no member "x"`},
		{"map[1]", 3, "a map's key is a text"},
		{"list[1]", 4, "no element 1"},
		{"list[-1]", 4, "no element -1"},
		{"list['x']", 4, "whole number"},
		{"text[0]", 4, "has no members"},
		{"text.x", 0, "has no members"},
		{"1 == odd", 5, "none that an expression can use"},
		{"1 == inf", 5, "none that an expression can use"},
		{"items[0]", 5, "none that an expression can use"},
		{"1 in items", 2, "none that an expression can use"},
		{"'a' + large", 4, "longer than"},
		{"'${large}${large}'", 0, "longer than"},
		{"'${list}'", 0, "can't be put into a text"},
		{"text && true", 0, "&& wants true or false"},
		{"text ? 1 : 2", 0, "? wants true or false"},
		{"!text", 0, "not wants true or false"},
		{"-text", 0, "a sign wants a number"},
		{"int(text)", 0, "int wants a number"},
		{"none.length", 5, "not of nil"},
		{"none > 1", 5, "not nil and 1"},
		{"text in none", 5, "a list or a map after it"},
		{"1 in map", 2, "a key before a map"},
		{"none contains 'a'", 5, "two texts"},
		{"none matches 'a'", 5, "a text before it"},
		{"deep == deep", 5, "lists or maps deep"},
		{"large matches '(a|b|c)*(a|b|c)*(a|b|c)*(d|e|f)*(d|e|f)*(d|e|f)*x{100}'", 6, "takes too long"},
	} {
		e, err := expression.Compile(c.text)
		if err != nil {
			t.Errorf("Compile(%s) = %v", c.text, err)
			continue
		}
		_, err = e.Eval(values)
		var got *expression.Error
		if !errors.As(err, &got) || got.Offset != c.offset || !strings.Contains(got.Message, c.message) {
			t.Errorf("%s = %v, want %q at %d", c.text, err, c.message, c.offset)
		}
	}
}

// deep is a list in a list, n times.
func deep(n int) any {
	var v any = "x"
	for range n {
		v = []any{v}
	}
	return v
}

func TestCostOfLargeValuesIsBounded(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("a", expression.MaxResult)
	values := expression.Values{Param: func(string) (any, bool) { return large, true }}
	for _, part := range []string{"a == b", "a < b", "a contains b", "a.length > 0", "lower(a) == b", "'${a}' == b", "a matches 'x.*y'"} {
		// As often as the text can hold it, it stops before it has done all.
		e, err := expression.Compile(strings.TrimSuffix(strings.Repeat(part+" && ", expression.MaxText/(len(part)+4)), " && "))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Eval(values); err == nil {
			continue // false at once
		} else if !strings.Contains(err.Error(), "takes too long") && !strings.Contains(err.Error(), "two texts") {
			t.Errorf("%s: %v", part, err)
		}
	}
	e, err := expression.Compile(strings.TrimSuffix(strings.Repeat("a == b && ", 400), " && "))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Eval(values); err == nil || !strings.Contains(err.Error(), "takes too long") {
		t.Errorf("400 comparisons of 100 KiB give %v, want the bound", err)
	}
}

func TestNestingDoesNotMultiplyTheWork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ open, close string }{{"(", ")"}, {"1 < (", ") < 1"}, {"[", "]"}, {"!", ""}, {"-", ""}, {"int(", ")"}, {"true ? ", ": 1"}, {"a[", "]"}, {"{a:", "}"}} {
		n := (expression.MaxText - 1) / (len(c.open) + len(c.close))
		text := strings.Repeat(c.open, n) + "1" + strings.Repeat(c.close, n)
		if e, err := expression.Compile(text); err == nil {
			_, _ = e.Eval(known())
		}
	}
}

func TestAnExpressionIsSharedByManyGoroutines(t *testing.T) {
	t.Parallel()
	e, err := expression.Condition(`region matches "^(eu|us)$" && hosts contains "b2" && {a: [1, 2]}["a"] == [1, "2"]`)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if got, err := e.Decide(known()); !got || err != nil {
					t.Errorf("Decide = %v, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestWholeNumbersAreExactOrBecomeFloats holds the arithmetic to that of large numbers.
func TestWholeNumbersAreExactOrBecomeFloats(t *testing.T) {
	t.Parallel()
	edge := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, -1, 0, 1}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := edge.Draw(t, "a"), edge.Draw(t, "b")
		values := expression.Values{Param: func(name string) (any, bool) {
			if name == "a" {
				return a, true
			}
			return fmt.Sprint(b), true
		}}
		for sign, f := range map[string]float64{"+": float64(a) + float64(b), "-": float64(a) - float64(b), "*": float64(a) * float64(b)} {
			e, err := expression.Compile("a " + sign + " b")
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.Eval(values)
			if err != nil {
				t.Fatal(err)
			}
			var is float64
			switch got := got.(type) {
			case int64:
				is = float64(got)
			case float64:
				is = got
			}
			if math.Abs(is-f) > math.Abs(f)*1e-9+2048 {
				t.Errorf("%d %s %d = %v, want about %v", a, sign, b, got, f)
			}
		}
	})
}

// TestComparisonsAgree: of two values exactly one of <, ==, > holds where they can be
// compared as numbers, and turning them around turns the answer.
func TestComparisonsAgree(t *testing.T) {
	t.Parallel()
	value := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) any { return rapid.Int64Range(-20, 20).Draw(t, "int") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Float64Range(-20, 20).Draw(t, "float") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.StringMatching(`[a-c0-9.-]{0,3}`).Draw(t, "text") }),
	)
	decide := func(t *rapid.T, text string, a, b any) (any, error) {
		e, err := expression.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		return e.Eval(expression.Values{Param: func(name string) (any, bool) {
			if name == "a" {
				return a, true
			}
			return b, true
		}})
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := value.Draw(t, "a"), value.Draw(t, "b")
		less, err := decide(t, "a < b", a, b)
		more, other := decide(t, "b > a", a, b)
		if less != more || (err == nil) != (other == nil) {
			t.Fatalf("%v < %v is %v, %v, the other way round %v, %v", a, b, less, err, more, other)
		}
		if same, err := decide(t, "(a == b) == (b == a) && (a != b) == !(a == b)", a, b); same != true || err != nil {
			t.Fatalf("equality of %v and %v is not the same both ways: %v", a, b, err)
		}
		if err != nil {
			return
		}
		if one, err := decide(t, "(a <= b) == !(a > b) && (a >= b) == !(a < b)", a, b); one != true || err != nil {
			t.Fatalf("the order of %v and %v contradicts itself: %v", a, b, err)
		}
	})
}

func FuzzExpression(f *testing.F) {
	for _, text := range []string{
		`region == "eu" && rows > 10`, "${a.b} ?? 'x'", `task("load all").state in ["success"]`, "a ? b : c", `x.includes("y") || !z`,
		"{a: [1, -2.5e3, nil]}['a'][0] ** 2", `note matches "^l.+s$"`, "`raw ``quote``` + '\\u00e9'", "a /* c */ + 1 // end", "a === 1 !== b",
		"1 < (1 < (1 < 2) < 3) < 4", `"$${x}${y}"`, "let a = 1; a", "map(a, #)", "a | b()", "if a { b } else { c }", "?.", "a?.[0]", "::int(1)",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := expression.Compile(text)
		if err != nil {
			var wrong *expression.Error
			if !errors.As(err, &wrong) || wrong.Offset < 0 || wrong.Offset > len(text) || wrong.Message == "" {
				t.Fatalf("Compile(%q) = %#v: no place in the text", text, err)
			}
			return
		}
		v, err := e.Eval(known())
		var wrong *expression.Error
		switch {
		case err != nil && (!errors.As(err, &wrong) || wrong.Offset < 0 || wrong.Offset > len(text)):
			t.Fatalf("%q = %v: no place in the text", text, err)
		case err == nil:
			if s, ok := v.(string); ok && len(s) > expression.MaxResult {
				t.Fatalf("%q gives a text of %d bytes", text, len(s))
			}
		}
		if again, _ := e.Eval(known()); fmt.Sprint(again) != fmt.Sprint(v) && err == nil {
			t.Fatalf("%q gives %v, then %v", text, v, again)
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	e, err := expression.Condition(`region in ["eu", "us"] && rows + 1 > 10 && note.includes("yes") && day matches "^2026" && load.state == "success"`)
	if err != nil {
		b.Fatal(err)
	}
	values := known()
	b.ReportAllocs()
	for b.Loop() {
		if got, err := e.Decide(values); !got || err != nil {
			b.Fatal(got, err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := expression.Condition(`region in ["eu", "us"] && rows + 1 > 10 && load.state == "success"`); err != nil {
			b.Fatal(err)
		}
	}
}
