package sql

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
)

func TestRowsWithTheCommonValuesGiveTheOthersAlone(t *testing.T) {
	t.Parallel()
	of := withCommon(&table{name: "t", keys: []string{"id"}, cols: []string{"id", "word", "n", "tail"}},
		map[string]any{"word": "", "n": int64(0), "tail": noBytes{}})
	plain, others := of.part([]any{
		int64(1), "", int64(0),
		[]byte{},
		int64(2), "x", int64(0),
		[]byte{},
		int64(3), "", int64(1),
		[]byte{},
		int64(4), "", int64(0), []byte("y"),
		int64(5), "", int64(0), []byte(nil),
	})
	if want := []any{int64(1), int64(5)}; !reflect.DeepEqual(plain, want) {
		t.Errorf("common are %v, want %v", plain, want)
	}
	if len(others) != 3*4 || others[0] != int64(2) || others[4] != int64(3) || others[8] != int64(4) {
		t.Errorf("the others are %v, want the rows 2, 3 and 4 whole", others)
	}
	if got := of.plain.rowMarks(2); got != "(?, '', 0, x''), (?, '', 0, x'')" {
		t.Errorf("two common rows are %s", got)
	}
	if got := of.rowMarks(1); got != "(?, ?, ?, ?)" {
		t.Errorf("another one is %s", got)
	}
}

// A statement writes each row once, however many changes of an attempt there are.
func TestOfAnAttemptsChangesTheLastIsWritten(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, fewAttempts, fewAttempts + 1, 40} {
		var list []dag.Attempt
		for i := range n {
			list = append(list, dag.Attempt{Task: i % 5, Number: 1 + i%2})
		}
		last := map[[2]int]int{}
		for i, a := range list {
			last[[2]int{a.Task, a.Number}] = i
		}
		superseded := laterOnes(list)
		for i, a := range list {
			if want := last[[2]int{a.Task, a.Number}] != i; superseded(i) != want {
				t.Errorf("of %d, number %d is superseded: %v, want %v", n, i, superseded(i), want)
			}
		}
	}
}

// On MySQL, rows that differ in their first key alone are changed together; all others as before.
func TestRowsThatAreAlikeAreChangedByOneStatement(t *testing.T) {
	t.Parallel()
	of := &table{name: "t", akin: true, keys: []string{"id", "epoch"}, cols: []string{"id", "epoch", "a", "b"}, sets: []string{"a", "b"}}
	tx := &tripTx{}
	b := &batch{s: &Store{dial: &dialect{mysql: true}}, tx: tx}
	err := b.updates(t.Context(), of, []any{
		int64(1), int64(7), "x", int64(1),
		int64(2), int64(7), "x", int64(1),
		int64(3), int64(8), "x", int64(1),
		int64(4), int64(7), "x", int64(1),
	}, true)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(tx.texts, "; ")
	if !strings.Contains(text, "UPDATE t SET a = ?, b = ? WHERE epoch = ? AND id IN (?, ?, ?)") || !strings.Contains(text, "UPDATE t SET a = ?, b = ? WHERE id = ? AND epoch = ?") {
		t.Errorf("the statements are %s", text)
	}
	want := []any{"x", int64(1), int64(7), int64(1), int64(2), int64(4), int64(3), "x", int64(1), int64(3), int64(8), int64(1)}
	if !slices.Equal(tx.args, want) {
		t.Errorf("they are given %v, want %v", tx.args, want)
	}
}
