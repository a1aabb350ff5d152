package failover

import (
	"context"
	"fmt"
)

// Peer is a master that may take instances, with its share.
type Peer struct {
	Owner  string
	Weight int
}

// HandOver gives all instances of this master to peers, to each a share by its weight, and returns
// how many. What could not be given stays with this owner: it is taken over once it is gone.
// The caller sees to it that nothing steps or commits them any more.
func (f *Failover) HandOver(ctx context.Context, peers []Peer) (handed int, err error) {
	if len(peers) == 0 {
		return 0, nil
	}
	self := f.Self.String()
	due := make([]int, len(peers)) // credits of a smooth weighted round robin
	for after := int64(0); ; {
		ids, err := f.Store.Owned(ctx, self, after, maxOwned)
		if err != nil {
			return handed, fmt.Errorf("read own instances: %w", err)
		}
		if len(ids) == 0 {
			return handed, nil
		}
		after = ids[len(ids)-1]
		for i, share := range deal(ids, peers, due) {
			if len(share) == 0 {
				continue
			}
			n, err := f.Store.HandOver(ctx, self, peers[i].Owner, share)
			handed += n
			if err != nil {
				return handed, err
			}
		}
	}
}

// deal divides ids among peers by their weights, whose remainders due carries on.
func deal(ids []int64, peers []Peer, due []int) [][]int64 {
	shares := make([][]int64, len(peers))
	total := 0
	for _, p := range peers {
		total += max(1, p.Weight)
	}
	for _, id := range ids {
		next := 0
		for i, p := range peers {
			due[i] += max(1, p.Weight)
			if due[i] > due[next] {
				next = i
			}
		}
		due[next] -= total
		shares[next] = append(shares[next], id)
	}
	return shares
}
