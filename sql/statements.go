package sql

import (
	"cmp"
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
)

// Statements counts what a Store asks SQLite, by the texts, for who wants to know where its time goes: a server of MySQL or
// MariaDB counts by itself. A Store without one has the driver as it is. Any number of goroutines may use it.
type Statements struct {
	mu sync.Mutex
	of map[string]*Statement
}

// Statement is what one text came to: how often, how many rows it gave and changed, and the time in the driver, with the
// wait for other processes' locks.
type Statement struct {
	Text    string        `json:"text"`
	Count   int64         `json:"count"`
	Given   int64         `json:"given"`
	Changed int64         `json:"changed"`
	Time    time.Duration `json:"time"`
}

const (
	// maxStatements bounds the texts that are told apart, otherStatements is what the rest counts as.
	maxStatements   = 4096
	otherStatements = "(all others)"
)

// manyRows are the values of several rows, and longList is a list of any length: a text is one statement however many there are.
var (
	manyRows = regexp.MustCompile(`(\([^()]*\?[^()]*\))(?:, \([^()]*\?[^()]*\))+`)
	longList = regexp.MustCompile(`\bIN \(\?(?:, \?)*\)`)
)

// NewStatements returns one that has counted nothing.
func NewStatements() *Statements { return &Statements{of: map[string]*Statement{}} }

// List returns what was counted, what took longest together first. Texts that differ in the number of their rows alone are one.
func (s *Statements) List() []Statement {
	merged := map[string]*Statement{}
	s.mu.Lock()
	for text, st := range s.of {
		text = longList.ReplaceAllString(manyRows.ReplaceAllString(text, "$1, ..."), "IN (...)")
		into := merged[text]
		if into == nil {
			into = &Statement{Text: text}
			merged[text] = into
		}
		into.add(*st)
	}
	s.mu.Unlock()
	list := make([]Statement, 0, len(merged))
	for _, st := range merged {
		list = append(list, *st)
	}
	slices.SortFunc(list, func(a, b Statement) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Text, b.Text))
	})
	return list
}

func (s *Statement) add(more Statement) {
	s.Count, s.Given, s.Changed, s.Time = s.Count+more.Count, s.Given+more.Given, s.Changed+more.Changed, s.Time+more.Time
}

func (s *Statements) count(text string, more Statement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.of[text]
	if st == nil {
		if len(s.of) >= maxStatements {
			text = otherStatements
		}
		if st = s.of[text]; st == nil {
			st = &Statement{}
			s.of[text] = st
		}
	}
	st.add(more)
}

// openSQLiteDriver opens a file with the driver, which counts where somebody wants that.
func openSQLiteDriver(dsn string, s *Statements) (*sqlx.DB, error) {
	db, err := sqlx.Open("sqlite", dsn)
	if err != nil || s == nil {
		return db, err
	}
	counted := sqlx.NewDb(stdsql.OpenDB(countedDriver{dsn, db.Driver(), s}), "sqlite")
	return counted, db.Close() // it has no connection
}

// countedDriver, its connections, statements and rows pass on what they are asked, and count it.
type countedDriver struct {
	dsn string
	of  driver.Driver
	s   *Statements
}

type sqliteConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// Driver is the one that is counted.
func (d countedDriver) Driver() driver.Driver { return d.of }

// Connect opens a connection.
func (d countedDriver) Connect(context.Context) (driver.Conn, error) {
	c, err := d.of.Open(d.dsn)
	if err != nil {
		return nil, err
	}
	full, ok := c.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("count statements: %T lacks a method", c), c.Close())
	}
	return countedConn{full, d.s}, nil
}

type countedConn struct {
	sqliteConn
	s *Statements
}

func (c countedConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	st, err := c.sqliteConn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return countedStmt{st, text, c.s}, nil
}

func (c countedConn) Prepare(text string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), text)
}

func (c countedConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	defer c.timed("BEGIN", time.Now())
	tx, err := c.sqliteConn.BeginTx(ctx, o)
	return countedTx{tx, c}, err
}

func (c countedConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	began := time.Now()
	r, err := c.sqliteConn.ExecContext(ctx, text, args)
	return c.s.changed(text, began, r, err)
}

func (c countedConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	began := time.Now()
	r, err := c.sqliteConn.QueryContext(ctx, text, args)
	return c.s.given(text, began, r, err)
}

func (c countedConn) timed(text string, began time.Time) {
	c.s.count(text, Statement{Count: 1, Time: time.Since(began)})
}

type countedTx struct {
	driver.Tx
	c countedConn
}

func (t countedTx) Commit() error {
	defer t.c.timed("COMMIT", time.Now())
	return t.Tx.Commit()
}

type countedStmt struct {
	driver.Stmt
	text string
	s    *Statements
}

func (st countedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	began := time.Now()
	r, err := st.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
	return st.s.changed(st.text, began, r, err)
}

func (st countedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	began := time.Now()
	r, err := st.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	return st.s.given(st.text, began, r, err)
}

func (s *Statements) changed(text string, began time.Time, r driver.Result, err error) (driver.Result, error) {
	one := Statement{Count: 1, Time: time.Since(began)}
	if err == nil {
		one.Changed, _ = r.RowsAffected() // SQLite always knows
	}
	s.count(text, one)
	return r, err
}

func (s *Statements) given(text string, began time.Time, r driver.Rows, err error) (driver.Rows, error) {
	one := Statement{Count: 1, Time: time.Since(began)}
	if err != nil {
		s.count(text, one)
		return nil, err
	}
	return &countedRows{r, text, s, one}, nil
}

// countedRows counts when it is closed: SQLite looks for a row when it is asked for it.
type countedRows struct {
	driver.Rows
	text string
	s    *Statements
	one  Statement
}

func (r *countedRows) Next(dest []driver.Value) error {
	began := time.Now()
	err := r.Rows.Next(dest)
	r.one.Time += time.Since(began)
	if !errors.Is(err, io.EOF) {
		r.one.Given++
	}
	return err
}

func (r *countedRows) Close() error {
	r.s.count(r.text, r.one)
	return r.Rows.Close()
}
