package slot

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestAJoinMovesOnlyTheSlotsOfTheNewcomer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 512).Draw(t, "slots")
		var before []Master
		for i := range rapid.IntRange(1, 8).Draw(t, "masters") {
			before = append(before, Master{Node: fmt.Sprint("m", i), Weight: rapid.IntRange(1, 4).Draw(t, "weight")})
		}
		after := append(append([]Master{}, before...), Master{Node: "newcomer", Weight: rapid.IntRange(1, 4).Draw(t, "weight")})
		old, now := Map(n, before), Map(n, after)
		for s := range now {
			if owner := after[now[s]].Node; owner != "newcomer" && owner != before[old[s]].Node {
				t.Fatalf("slot %d moved from %s to %s when newcomer joined", s, before[old[s]].Node, owner)
			}
		}
		shuffled := rapid.Permutation(after).Draw(t, "order")
		again := Map(n, shuffled)
		for s := range now {
			if shuffled[again[s]].Node != after[now[s]].Node {
				t.Fatalf("slot %d belongs to %s or %s, as the members are listed", s, after[now[s]].Node, shuffled[again[s]].Node)
			}
		}
	})
}

func TestSharesFollowTheWeights(t *testing.T) {
	t.Parallel()
	masters := []Master{{Node: "a", Weight: 1}, {Node: "b", Weight: 2}, {Node: "c", Weight: 1}}
	count := make([]int, len(masters))
	const n = 40_000
	for _, i := range Map(n, masters) {
		count[i]++
	}
	for i, m := range masters {
		want := n * m.Weight / 4
		if diff := count[i] - want; diff < -n/50 || diff > n/50 {
			t.Errorf("%s with weight %d has %d of %d slots, want about %d", m.Node, m.Weight, count[i], n, want)
		}
	}
}
