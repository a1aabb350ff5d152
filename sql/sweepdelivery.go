package sql

import (
	"context"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/dag"
)

const (
	// deliveryKept is how long a delivery that rests is kept, when its instance is over: as long as somebody may
	// want to know whether he was told, or to have a dead one delivered again.
	deliveryKept = 30 * 24 * time.Hour
	// sweptLanes bounds the lanes of one sweep.
	sweptLanes = 16
)

// sweepDeliveries deletes deliveries that have rested for long and whose instance is over, and with them the replies that
// they were of. An instance that is run again later tells its listeners no more.
func (s *Store) sweepDeliveries(ctx context.Context) (n int, err error) {
	until := s.millis().Add(-deliveryKept)
	if n, err = s.sweepAlerts(ctx, until); err != nil {
		return n, fmt.Errorf("delete old alerts: %w", err)
	}
	for _, state := range []DeliveryState{DeliveryIdle, DeliveryDead} {
		lanes, err := s.lanes(ctx, state, until, "", sweptLanes)
		if err != nil {
			return n, err
		}
		for _, lane := range lanes {
			if n >= maxSwept {
				return n, nil
			}
			swept, err := s.sweepLane(ctx, state, lane, until)
			if n += swept; err != nil {
				return n, fmt.Errorf("delete old deliveries: %w", err)
			}
		}
	}
	return n, nil
}

func (s *Store) sweepLane(ctx context.Context, state DeliveryState, lane string, until dag.Millis) (n int, err error) {
	type key struct{ listener, instance int64 }
	old, err := collect(ctx, s, func(scan func(...any) error) (k key, err error) { return k, scan(&k.listener, &k.instance) },
		`SELECT d.listener_id, d.instance_id FROM delivery d JOIN workflow_instance i ON i.id = d.instance_id
			WHERE d.state = ? AND d.lane = ? AND d.next_at <= ? AND i.state NOT IN (`+openStates+`) ORDER BY d.next_at LIMIT ?`, string(state), lane, until, maxSwept)
	if err != nil || len(old) == 0 {
		return 0, err
	}
	keys, replies := []any{string(state), until}, []any{}
	for _, k := range old {
		keys = append(keys, k.listener, k.instance)
		if k.listener == k.instance {
			replies = append(replies, k.listener)
		}
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		// It may have been woken since it was read. The plus lets the databases look for the keys, not for the age.
		res, err := tx.ExecContext(ctx, `DELETE FROM delivery WHERE +state = ? AND +next_at <= ? AND `+s.dial.rowsIn("(listener_id, instance_id)", 2, len(old)), keys...)
		if err != nil {
			return err
		}
		met, err := res.RowsAffected()
		if n = int(met); err != nil || len(replies) == 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM listener WHERE id IN (`+marks(len(replies))+`) AND instance_id > 0
			AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.listener_id = listener.id)`, replies...)
		return err
	})
	return n, err
}
