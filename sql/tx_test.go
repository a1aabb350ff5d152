package sql

import (
	"context"
	"testing"
	"time"
)

// A guard above a loop survives a panic; what the transaction had locked would stay so.
func TestAPanicInATransactionLocksNothing(t *testing.T) {
	t.Parallel()
	for name, s := range emptyStores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			touch := func(tx *sqlTx) error {
				_, err := tx.ExecContext(ctx, `UPDATE cluster SET layout_floor = layout_floor + 1`)
				return err
			}
			func() {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				_ = s.write(ctx, func(tx *sqlTx) error {
					if err := touch(tx); err != nil {
						t.Error(err)
					}
					panic("in a transaction")
				})
			}()
			limited, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			if err := s.write(limited, touch); err != nil {
				t.Errorf("the next write: %v", err)
			}
		})
	}
}
