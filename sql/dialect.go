package sql

import (
	stdsql "database/sql"
	"database/sql/driver"
	"strings"
	"sync"
)

// dialect holds what differs between SQLite and MySQL; all other SQL is one text for both.
type dialect struct {
	name  string
	mysql bool
	path  string // SQLite's file

	texts sync.Map // key -> statement text, see text
}

func openDB(c driver.Connector) *stdsql.DB { return stdsql.OpenDB(c) }

// forUpdate ends a SELECT that locks its rows until the transaction ends. SQLite needs
// none: BEGIN IMMEDIATE has locked the whole file.
func (d *dialect) forUpdate() string {
	if d.mysql {
		return " FOR UPDATE"
	}
	return ""
}

// forShare ends a SELECT whose rows nobody may change until the transaction ends.
func (d *dialect) forShare() string {
	if d.mysql {
		return " LOCK IN SHARE MODE"
	}
	return ""
}

// table describes one multi-row statement: the columns that each row gives, in order.
type table struct {
	name string
	keys []string // the primary key; in an update also what must be equal
	cols []string // all columns given, the keys first
	sets []string // columns that change where the row exists

	akin bool // of an update: rows often differ in their first key alone

	// Of a table with common values, see withCommon:
	common []any    // by column; nil where there is none
	plain  *table   // of the rows that have them all
	fixed  []string // of that one, by column: the value in the text, "" where rows give it
}

type textKey struct {
	table *table
	verb  string
	n     int
}

// text returns the statement for n rows, made once where n is a power of two. SQLite gets no others, so that there are few
// to prepare.
func (d *dialect) text(t *table, verb string, n int, build func() string) string {
	if n&(n-1) != 0 {
		return build()
	}
	key := textKey{t, verb, n}
	if s, ok := d.texts.Load(key); ok {
		return s.(string)
	}
	s := build()
	d.texts.Store(key, s)
	return s
}

// insert writes n new rows.
func (d *dialect) insert(t *table, n int) string {
	return d.text(t, "insert", n, func() string {
		return "INSERT INTO " + t.name + " (" + strings.Join(t.cols, ", ") + ") VALUES " + t.rowMarks(n)
	})
}

// insertNew writes those of n rows that do not exist.
func (d *dialect) insertNew(t *table, n int) string {
	return d.text(t, "insert new", n, func() string {
		return d.insertIgnore() + t.name + " (" + strings.Join(t.cols, ", ") + ") VALUES " + t.rowMarks(n)
	})
}

// upsert writes n rows, changing t.sets of those that exist.
func (d *dialect) upsert(t *table, n int) string {
	return d.text(t, "upsert", n, func() string {
		var b strings.Builder
		b.WriteString("INSERT INTO " + t.name + " (" + strings.Join(t.cols, ", ") + ") VALUES " + t.rowMarks(n))
		if d.mysql {
			b.WriteString(" ON DUPLICATE KEY UPDATE ")
		} else {
			b.WriteString(" ON CONFLICT (" + strings.Join(t.keys, ", ") + ") DO UPDATE SET ")
		}
		for i, c := range t.sets {
			if i > 0 {
				b.WriteString(", ")
			}
			if d.mysql {
				b.WriteString(c + " = VALUES(" + c + ")")
			} else {
				b.WriteString(c + " = excluded." + c)
			}
		}
		return b.String()
	})
}

// update changes t.sets of the n rows whose t.keys are equal, by a join with the rows given.
func (d *dialect) update(t *table, n int) string {
	return d.text(t, "update", n, func() string {
		var b strings.Builder
		on := make([]string, len(t.keys))
		for i, k := range t.keys {
			on[i] = "w." + k + " = v." + k
		}
		if d.mysql {
			b.WriteString("UPDATE " + t.name + " w JOIN (" + selectRows(t.cols, n) + ") v ON " + strings.Join(on, " AND ") + " SET ")
		} else {
			b.WriteString("UPDATE " + t.name + " AS w SET ")
		}
		for i, c := range t.sets {
			if i > 0 {
				b.WriteString(", ")
			}
			if d.mysql {
				b.WriteString("w.")
			}
			b.WriteString(c + " = v." + c)
		}
		if !d.mysql {
			b.WriteString(" FROM (WITH r(" + strings.Join(t.cols, ", ") + ") AS (VALUES " + rowMarks(len(t.cols), n) +
				") SELECT * FROM r) AS v WHERE " + strings.Join(on, " AND "))
		}
		return b.String()
	})
}

// updateOne is update for one row, whose keys are given last.
func (d *dialect) updateOne(t *table) string {
	return d.text(t, "update one", 1, func() string {
		return "UPDATE " + t.name + " SET " + strings.Join(t.sets, " = ?, ") + " = ? WHERE " + strings.Join(t.keys, " = ? AND ") + " = ?"
	})
}

// updateIn is updateOne for n rows that differ in their first key alone, which are given last.
func (d *dialect) updateIn(t *table, n int) string {
	return d.text(t, "update in", n, func() string {
		var b strings.Builder
		b.WriteString("UPDATE " + t.name + " SET " + strings.Join(t.sets, " = ?, ") + " = ? WHERE ")
		for _, key := range t.keys[1:] {
			b.WriteString(key + " = ? AND ")
		}
		b.WriteString(t.keys[0] + " IN (" + marks(n) + ")")
		return b.String()
	})
}

// selectRows is a table of n rows by UNION ALL, which both MySQL and MariaDB read.
func selectRows(cols []string, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(" UNION ALL ")
		}
		b.WriteString("SELECT ")
		for j, c := range cols {
			if j > 0 {
				b.WriteString(", ")
			}
			b.WriteString("?")
			if i == 0 {
				b.WriteString(" AS " + c)
			}
		}
	}
	return b.String()
}

// rowMarks is "(?, ?), (?, ?)" for n rows of k values.
func rowMarks(k, n int) string {
	row := "(" + marks(k) + ")"
	return strings.TrimSuffix(strings.Repeat(row+", ", n), ", ")
}

// marks is "?, ?, ?" for n values.
func marks(n int) string {
	if n == 0 {
		return "NULL"
	}
	return strings.TrimSuffix(strings.Repeat("?, ", n), ", ")
}

// insertIgnore starts an INSERT that does nothing where the row exists.
func (d *dialect) insertIgnore() string {
	if d.mysql {
		return "INSERT IGNORE INTO "
	}
	return "INSERT OR IGNORE INTO "
}

// onConflict continues an INSERT of a row whose keys may exist: what follows are assignments.
func (d *dialect) onConflict(keys string) string {
	if d.mysql {
		return " ON DUPLICATE KEY UPDATE "
	}
	return " ON CONFLICT (" + keys + ") DO UPDATE SET "
}

// given is, within onConflict, the value that the INSERT gave for column c.
func (d *dialect) given(c string) string {
	if d.mysql {
		return "VALUES(" + c + ")"
	}
	return "excluded." + c
}

// givenAll assigns to each column what the INSERT gave for it.
func (d *dialect) givenAll(cols ...string) string {
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = c + " = " + d.given(c)
	}
	return strings.Join(out, ", ")
}

// byPrimary follows a table whose rows are looked for by primary key. Where another index begins with a column of that,
// MariaDB weighs all ranges of both against each other, which takes many times longer than the reading.
func (d *dialect) byPrimary() string {
	if d.mysql {
		return " FORCE INDEX (PRIMARY)"
	}
	return ""
}

// deleteFrom begins a DELETE of rows that are looked for by primary key. MySQL and MariaDB read a small table whole instead, and lock
// all of it: starts then wait for claims, in a flood 450 times for 4 ms within six seconds.
func (d *dialect) deleteFrom(table string) string {
	if d.mysql {
		return "DELETE " + table + " FROM " + table + d.byPrimary()
	}
	return "DELETE FROM " + table
}

// along follows a table that is to be read in the order of an index. MariaDB reads and sorts all of a queue whose rows come
// and go, since its figures of it are of another moment: 3 ms with 6,000 commands.
func (d *dialect) along(index string) string {
	if d.mysql {
		return " FORCE INDEX (" + index + ")"
	}
	return ""
}

// rowsIn is "cols IN (n rows of k values)".
func (d *dialect) rowsIn(cols string, k, n int) string {
	if d.mysql {
		return cols + " IN (" + rowMarks(k, n) + ")"
	}
	return cols + " IN (VALUES " + rowMarks(k, n) + ")"
}
