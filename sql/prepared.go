package sql

import (
	"context"
	stdsql "database/sql"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/jmoiron/sqlx"
)

// maxPrepared bounds the statements that one pool keeps; the texts are some ten for each power of two of rows.
const maxPrepared = 384

// prepared keeps the statements of one pool that come again, by their texts: reading a text costs as much as running it,
// and more where it has some hundred rows. Any number of goroutines may use one; a nil one keeps nothing.
type prepared struct {
	db  *sqlx.DB
	log hclog.Logger

	mu     sync.RWMutex
	of     map[string]*stdsql.Stmt // nil: seen
	wanted []string                // texts to prepare once no transaction is in the way
}

func newPrepared(db *sqlx.DB, log hclog.Logger) *prepared {
	return &prepared{db: db, log: log, of: map[string]*stdsql.Stmt{}}
}

// get returns the statement of a text, or nil, and says whether the text was seen before; what finds no room never is.
func (p *prepared) get(text string) (st *stdsql.Stmt, again bool) {
	if p == nil {
		return nil, false
	}
	p.mu.RLock()
	st, again = p.of[text]
	full := len(p.of) >= maxPrepared
	p.mu.RUnlock()
	if again || full {
		return st, again
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if st, again = p.of[text]; !again {
		p.of[text] = nil
	}
	return st, again
}

// within returns the statement of a text for a transaction, or nil: where it comes again, makeWanted will prepare it.
func (p *prepared) within(text string) *stdsql.Stmt {
	st, again := p.get(text) //nolint:sqlclosecheck // kept: close closes it
	if st == nil && again {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !slices.Contains(p.wanted, text) {
			p.wanted = append(p.wanted, text)
		}
	}
	return st
}

// exec runs a statement in a transaction of the pool, by a prepared one where there is one.
func (p *prepared) exec(ctx context.Context, tx *stdsql.Tx, text string, args []any) (stdsql.Result, error) {
	if st := p.within(text); st != nil {
		return tx.StmtContext(ctx, st).ExecContext(ctx, args...) //nolint:sqlclosecheck // the end of tx closes it
	}
	return tx.ExecContext(ctx, text, args...)
}

// query is exec for a statement with rows.
func (p *prepared) query(ctx context.Context, tx *stdsql.Tx, text string, args []any) (*stdsql.Rows, error) {
	if st := p.within(text); st != nil {
		return tx.StmtContext(ctx, st).QueryContext(ctx, args...) //nolint:sqlclosecheck // the end of tx closes it
	}
	return tx.QueryContext(ctx, text, args...)
}

// steady keeps SQLite from planning a statement with a LIMIT anew each time that it runs: its planner looks at the value of
// a bare parameter there, and what depends on a value holds only until another one is bound. A look for lanes of deliveries takes 5 us so, and 36
// otherwise.
func steady(text string) string { return strings.ReplaceAll(text, "LIMIT ?", "LIMIT (? + 0)") }

// make prepares a text, and returns nil where that can't be: it tells its error when it runs. The caller is in no
// transaction of the pool's only connection.
func (p *prepared) make(ctx context.Context, text string) *stdsql.Stmt {
	// Not under the lock: it waits for a connection, whose holder may want to know more statements.
	st, err := p.db.PrepareContext(ctx, steady(text))
	if err != nil {
		p.log.Debug("statement not prepared", "error", err)
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.of[text]; other != nil {
		_ = st.Close() //nolint:sqlclosecheck // the one that is kept must stay open
		return other
	}
	p.of[text] = st
	return st
}

// makeWanted prepares what transactions have wanted. It must not run within one, which may hold the only connection.
func (p *prepared) makeWanted() {
	if p == nil {
		return
	}
	p.mu.RLock()
	none := len(p.wanted) == 0
	p.mu.RUnlock()
	if none {
		return
	}
	p.mu.Lock()
	texts := p.wanted
	p.wanted = nil
	p.mu.Unlock()
	for _, text := range texts {
		if p.make(context.Background(), text) == nil {
			p.forget(text)
		}
	}
}

// forget gives back the room of a text that can't be prepared; whoever wants it again tries again.
func (p *prepared) forget(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of[text] == nil {
		delete(p.of, text)
	}
}

func (p *prepared) close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, st := range p.of {
		if st != nil {
			_ = st.Close()
		}
	}
	clear(p.of)
}
