package sql

import (
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
)

// meets ends a trip with an error unless the UPDATE right before it met that many rows: the
// variable, which is off anyway, takes no such word. MariaDB makes a warning of what else fails
// in an expression, and a query that fails costs four times as much.
const meets = `SET sql_auto_is_null = IF(ROW_COUNT() = ?, 'OFF', 'a row that was locked is not there')`

// maxTripBytes bounds what waits. Beyond it a trip more costs nothing, while the driver makes
// every buffer over 256 KiB anew. A single statement may be longer: see maxStatementBytes.
const maxTripBytes = 128 << 10

// tripTx is a transaction on MySQL or MariaDB. A lone commit is all waiting for the network and
// for two schedulers, once per statement, so statements without an answer travel together, with
// the next query or with the commit: two trips instead of seven. The server stops at the first
// that fails, and COMMIT is the last.
//
// The connection alone may send several statements at once; nothing but the writer's own
// texts, which hold no value of anybody, runs on it.
type tripTx struct {
	conn  *stdsql.Conn
	texts []string
	args  []any
	bytes int
	sent  bool // the server may have begun it
}

func beginTrips(ctx context.Context, s *Store) (*tripTx, error) {
	conn, err := s.hot.Conn(ctx)
	if err != nil {
		return nil, err
	}
	t := &tripTx{conn: conn}
	if level := s.isolation(); level != stdsql.LevelDefault {
		t.texts = append(t.texts, "SET TRANSACTION ISOLATION LEVEL "+strings.ToUpper(level.String()))
	}
	t.texts = append(t.texts, "START TRANSACTION")
	return t, nil
}

func (t *tripTx) exec(ctx context.Context, text string, args []any, want int) error {
	size := len(text) + rowBytes(args)
	if t.bytes+size > maxTripBytes {
		if err := t.flush(ctx); err != nil {
			return err
		}
	}
	t.bytes += size
	t.texts, t.args = append(t.texts, text), append(t.args, args...)
	if want != anyRows {
		t.texts, t.args = append(t.texts, meets), append(t.args, int64(want))
	}
	return nil
}

// take empties the trip's load.
func (t *tripTx) take(last string, args []any) (string, []any) {
	text, all := strings.Join(append(t.texts, last), "; "), append(t.args, args...)
	t.texts, t.args, t.bytes, t.sent = nil, nil, 0, true
	return text, all
}

// query sends what waits, and the query: its rows are the only ones.
func (t *tripTx) query(ctx context.Context, text string, args []any) (*stdsql.Rows, error) {
	text, args = t.take(text, args)
	return t.conn.QueryContext(ctx, text, args...)
}

func (t *tripTx) flush(ctx context.Context) error {
	if len(t.texts) == 0 {
		return nil
	}
	last := t.texts[len(t.texts)-1]
	t.texts = t.texts[:len(t.texts)-1]
	text, args := t.take(last, nil)
	_, err := t.conn.ExecContext(ctx, text, args...)
	return err
}

// commit sends COMMIT together with what waits where the transaction holds locks already. A
// connection that breaks then leaves the outcome unknown, and who looks it up must wait for the
// server to end the transaction: without a lock it could look before the server has begun.
func (t *tripTx) commit(ctx context.Context, held bool) error {
	if !held {
		if err := t.flush(ctx); err != nil {
			return err
		}
	}
	text, args := t.take("COMMIT", nil)
	if _, err := t.conn.ExecContext(ctx, text, args...); err != nil {
		return err
	}
	_ = t.conn.Close() // back to the pool
	return nil
}

func (t *tripTx) rollback() {
	if t.sent {
		ctx, cancel := context.WithTimeout(context.Background(), batchTimeout)
		defer cancel()
		if _, err := t.conn.ExecContext(ctx, "ROLLBACK"); err != nil {
			// Its transaction may be open: the pool must not give it to the next one.
			_ = t.conn.Raw(func(any) error { return fmt.Errorf("end the connection: %w", driver.ErrBadConn) })
		}
	}
	_ = t.conn.Close()
}
