package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/porpoise/porpoise/bench/figures"
)

// mostStatements is how many statements the profile has: those that took longest together.
const mostStatements = 40

// statements keeps what the database server counted of each statement since it was started, with values left out: how often,
// how many rows it read, gave and changed, and how long. A server counts only where it was started with its performance
// schema, which costs some percents; scripts/mariadb does so with --statements.
func (m *measure) statements(ctx context.Context) (err error) {
	if m.profile == "" {
		return nil
	}
	db, err := stdsql.Open("mysql", m.mariadb)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var on bool
	if err := db.QueryRowContext(ctx, "SELECT @@performance_schema").Scan(&on); err != nil || !on {
		m.progress("the database server does not count statements (%v)", err)
		return nil
	}
	schema, _, _ := strings.Cut(m.site.DSN[strings.LastIndexByte(m.site.DSN, '/')+1:], "?")
	rows, err := db.QueryContext(ctx, `SELECT COALESCE(digest_text, '(all others)'), count_star, sum_rows_examined, sum_rows_sent, sum_rows_affected,
		sum_timer_wait / 1e9, sum_timer_wait / 1e6 / count_star FROM performance_schema.events_statements_summary_by_digest
		WHERE schema_name = ? ORDER BY sum_timer_wait DESC LIMIT ?`, schema, mostStatements)
	if err != nil {
		return fmt.Errorf("read the statements: %w", err)
	}
	defer rows.Close()
	var table [][]string
	for rows.Next() {
		var text string
		var count, examined, sent, affected int64
		var all, each float64
		if err := rows.Scan(&text, &count, &examined, &sent, &affected, &all, &each); err != nil {
			return err
		}
		if len(text) > 300 {
			text = text[:300] + " ..."
		}
		table = append(table, []string{
			"`" + strings.ReplaceAll(text, "`", "") + "`", fmt.Sprint(count), fmt.Sprint(examined), fmt.Sprint(sent), fmt.Sprint(affected), fmt.Sprintf("%.0f ms", all), fmt.Sprintf("%.0f us", each),
		})
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(m.profile, "statements.md"),
		[]byte(figures.Table([]string{"statement", "count", "rows read", "rows given", "rows changed", "time", "each"}, table)), 0o600)
}
