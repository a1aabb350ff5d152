// Package slot shares the command slots among the masters: a command's slot is its id mod
// N, and a master takes only the commands of its slots. It owns the map from slot to master,
// and the barrier by which all masters change from one map to the next: Barrier is the
// protocol, a pure step function, and Loop moves it. It never claims a command, and nothing
// depends on it for safety: a claim is a transaction that only one master wins. intake
// asks its Table what to take; master feeds it the members that the registry shows.
package slot

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
)

// Master is a member with its weight: of two masters, the one with twice the weight has about
// twice the slots. A weight below 1 counts as 1.
type Master struct {
	Node        string `json:"node"`
	Incarnation string `json:"incarnation"`
	Weight      int    `json:"weight"`
}

// Map returns the owner of each of n slots, as an index into masters, by weighted rendezvous
// hashing: each slot belongs to the master with the highest score for it, so that a join or a
// leave moves only the slots of the one who came or went. The order of masters does not
// matter. Without masters it returns nil.
func Map(n int, masters []Master) []int {
	if len(masters) == 0 {
		return nil
	}
	order := make([]int, len(masters))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(masters[a].Node, masters[b].Node) })
	owners := make([]int, n)
	for s := range owners {
		best := math.Inf(-1)
		for _, i := range order {
			if score := score(s, masters[i]); score > best {
				best, owners[s] = score, i
			}
		}
	}
	return owners
}

// score is the logarithmic form of weighted rendezvous hashing (Schindelhauer and
// Schomaker, 2005): -w / ln(h) with h uniform in (0, 1).
func score(slot int, m Master) float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(m.Node))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(strconv.Itoa(slot)))
	uniform := (float64(mix(h.Sum64())>>11) + 0.5) / (1 << 53)
	return -float64(max(1, m.Weight)) / math.Log(uniform)
}

// mix spreads FNV's last bytes over all bits (the finaliser of SplitMix64).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
