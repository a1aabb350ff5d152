package main

import (
	"context"
	stdsql "database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/porpoise/porpoise/bench/figures"
	"github.com/porpoise/porpoise/sql"
)

const (
	// mostStatements is how many statements a table has: those that took longest together.
	mostStatements = 40
	// statementText is how much of its text each shows.
	statementText = 300
)

// ownStatements keeps what each process has counted of its statements on SQLite since it was started, by their texts.
func (m *measure) ownStatements(ctx context.Context) error {
	for role, address := range m.pprof {
		list, err := counted(ctx, address)
		if err != nil {
			return fmt.Errorf("read the statements of %s: %w", role, err)
		}
		var table [][]string
		for _, st := range list[:min(len(list), mostStatements)] {
			table = append(table, []string{
				shortened(st.Text), fmt.Sprint(st.Count), fmt.Sprint(st.Given), fmt.Sprint(st.Changed),
				fmt.Sprintf("%.0f ms", figures.InMilliseconds(st.Time)), fmt.Sprintf("%d us", (st.Time / time.Duration(max(st.Count, 1))).Microseconds()),
			})
		}
		if err := m.keepTables(role+"-statements.md", figures.Table([]string{"statement", "count", "rows given", "rows changed", "time", "each"}, table)); err != nil {
			return err
		}
	}
	return nil
}

func counted(ctx context.Context, address string) (list []sql.Statement, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/debug/statements", http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	err = json.NewDecoder(answer.Body).Decode(&list)
	return list, errors.Join(err, answer.Body.Close())
}

// statements keeps what the database server counted since it was started, which it does where that was with its performance
// schema: it costs some percents; scripts/mariadb does so with --statements. There are three tables: by text with the values
// left out, where those that travel in one packet have the text of its first; by kind, where each has its own; and by what was
// done with each table of the database.
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
	var tables []string
	for _, t := range []struct {
		title, query string
		header       []string
		args         []any
	}{
		{
			"By text; of a packet with several statements all have the text of the first.",
			`SELECT COALESCE(digest_text, '(all others)'), count_star, sum_rows_examined, sum_rows_sent, sum_rows_affected,
				CONCAT(ROUND(sum_timer_wait / 1e9), ' ms'), CONCAT(ROUND(sum_timer_wait / 1e6 / count_star), ' us') FROM performance_schema.events_statements_summary_by_digest
				WHERE schema_name = ? ORDER BY sum_timer_wait DESC LIMIT ?`,
			[]string{"statement", "count", "rows read", "rows given", "rows changed", "time", "each"},
			[]any{schema, mostStatements},
		},
		{
			"By kind, each statement of a packet for itself.",
			`SELECT SUBSTRING_INDEX(event_name, '/', -1), count_star, sum_rows_examined, sum_rows_sent, sum_rows_affected,
				CONCAT(ROUND(sum_timer_wait / 1e9), ' ms'), CONCAT(ROUND(sum_timer_wait / 1e6 / count_star), ' us') FROM performance_schema.events_statements_summary_global_by_event_name
				WHERE count_star > 0 AND event_name LIKE 'statement/sql/%' ORDER BY sum_timer_wait DESC LIMIT ?`,
			[]string{"kind", "count", "rows read", "rows given", "rows changed", "time", "each"},
			[]any{mostStatements},
		},
		{
			"By table: rows that were read, inserted, changed and deleted, and the time that took.",
			`SELECT object_name, count_fetch, CONCAT(ROUND(sum_timer_fetch / 1e9), ' ms'), count_insert, CONCAT(ROUND(sum_timer_insert / 1e9), ' ms'),
				count_update, CONCAT(ROUND(sum_timer_update / 1e9), ' ms'), count_delete, CONCAT(ROUND(sum_timer_delete / 1e9), ' ms')
				FROM performance_schema.table_io_waits_summary_by_table WHERE object_schema = ? AND count_star > 0 ORDER BY sum_timer_wait DESC LIMIT ?`,
			[]string{"table", "read", "time", "inserted", "time", "changed", "time", "deleted", "time"},
			[]any{schema, mostStatements},
		},
	} {
		rows, err := texts(ctx, db, len(t.header), t.query, t.args...)
		if err != nil {
			return fmt.Errorf("read the statements: %w", err)
		}
		tables = append(tables, t.title+"\n\n"+figures.Table(t.header, rows))
	}
	return m.keepTables("statements.md", tables...)
}

// texts reads rows of so many columns as texts.
func texts(ctx context.Context, db *stdsql.DB, columns int, query string, args ...any) (table [][]string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		line, into := make([]string, columns), make([]any, columns)
		for i := range line {
			into[i] = &line[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		line[0] = shortened(line[0])
		table = append(table, line)
	}
	return table, rows.Err()
}

// shortened is a statement's text as a cell shows it.
func shortened(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, "`", "")), " ")
	if len(text) > statementText {
		text = text[:statementText] + " ..."
	}
	return "`" + text + "`"
}

// keepTables writes tables into a file of the profile.
func (m *measure) keepTables(name string, tables ...string) error {
	return os.WriteFile(filepath.Join(m.profile, name), []byte(strings.Join(tables, "\n")), 0o600)
}
