package sql

import (
	"testing"

	"github.com/porpoise/porpoise/dag"
)

func TestASweepSparesKeysThatWereUsedAgainMeanwhile(t *testing.T) {
	t.Parallel()
	const until = 1000
	for name, s := range emptyStores(t) {
		keys := []requestKey{{1, "old"}, {1, "used again"}, {2, "old"}}
		for i, at := range []dag.Millis{until, until + 1, until} {
			_, err := s.db.ExecContext(t.Context(), `INSERT INTO idempotency (user_id, request_key, hash, instance_id, created_at) VALUES (?, ?, '', 1, ?)`,
				keys[i].user, keys[i].key, at)
			if err != nil {
				t.Fatal(err)
			}
		}
		if n, err := s.sweepKeys(t.Context(), keys, until); err != nil || n != 2 {
			t.Errorf("%s: swept %d, %v; want the two that are old", name, n, err)
		}
		var left string
		if err := s.db.QueryRowContext(t.Context(), `SELECT request_key FROM idempotency`).Scan(&left); err != nil || left != "used again" {
			t.Errorf("%s: %q is left, %v", name, left, err)
		}
		// However many old rows there are, one batch of them is found by its keys.
		if !s.dial.mysql {
			text := `DELETE FROM idempotency WHERE +created_at <= ? AND ` + s.dial.rowsIn("(user_id, request_key)", 2, 1)
			plan := queryPlan(t, s, text, []any{until, 1, "k"})
			if len(plan) == 0 || plan[0] != "SEARCH idempotency USING PRIMARY KEY (user_id=? AND request_key=?)" {
				t.Errorf("%s: plan %q", name, plan)
			}
		}
	}
}
