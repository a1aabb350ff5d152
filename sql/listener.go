package sql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/listen"
)

// Listener is who is told of events: of those of a project's instances, or, as the reply that a start asked
// for, of one instance alone.
type Listener struct {
	ID            int64
	ProjectID     int64
	InstanceID    int64 // of a reply, whose id it is, too; 0 for all instances of the project
	Name          string
	Description   string
	URL           string
	Secret        []byte // sealed by who wrote it, see ListenerSecret, or ${secret.NAME}; empty for none
	Filter        listen.Filter
	CorrelationID string
	Enabled       bool
	CreatedBy     string
	CreatedAt     dag.Millis
	UpdatedAt     dag.Millis
	// Dead counts the instances whose deliveries were given up; only Listener and Listeners fill it.
	Dead int
}

// Reply is the listener that a start brings for its own instance.
type Reply struct {
	URL           string
	Secret        []byte // as that of a Listener
	Filter        listen.Filter
	CorrelationID string
	// Receiver names who is called, by scheme, host and port: replies to one share a bound.
	Receiver string
}

// ListenerSecret is what the secret of a listener is sealed about: it is of no use in another project.
func ListenerSecret(projectID int64) []byte {
	return []byte("listener of project " + strconv.FormatInt(projectID, 10))
}

// MaxListeners bounds the listeners of a project: each start of an instance makes a row for each of them.
const MaxListeners = 100

const listenerColumns = `l.id, l.project_id, l.instance_id, l.name, l.description, l.url, l.secret, l.filter, l.correlation_id, l.enabled, l.created_by, l.created_at, l.updated_at`

const countDead = `, (SELECT COUNT(*) FROM delivery d WHERE d.state = 'dead' AND d.lane = l.lane AND d.listener_id = l.id)`

func (l *Listener) scan(scan func(...any) error, more ...any) error {
	var filter string
	err := scan(append([]any{
		&l.ID, &l.ProjectID, &l.InstanceID, &l.Name, &l.Description, &l.URL, &l.Secret, &filter, &l.CorrelationID, &l.Enabled, &l.CreatedBy, &l.CreatedAt, &l.UpdatedAt,
	}, more...)...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(filter), &l.Filter); err != nil {
		return fmt.Errorf("filter of listener %d: %w", l.ID, err)
	}
	return nil
}

func scanListener(scan func(...any) error) (l Listener, err error) { return l, l.scan(scan, &l.Dead) }

func encodeFilter(f listen.Filter) string {
	text, err := json.Marshal(f)
	if err != nil {
		panic(fmt.Sprintf("sql: filter: %v", err)) // texts alone: it can't fail
	}
	return string(text)
}

// laneOf is the lane of a project's listener.
func laneOf(id int64) string { return "listener " + strconv.FormatInt(id, 10) }

var listenerInsert = &table{
	name: "listener",
	cols: []string{
		"id", "project_id", "instance_id", "name", "name_key", "description", "url", "secret", "filter", "correlation_id", "lane", "enabled",
		"created_by", "created_at", "updated_at",
	},
}

// PutListener makes a listener of a project, or changes it; a nil secret keeps the one that it has. It returns
// the listener as it is then and whether it is new; ErrFull where the project has MaxListeners. It hears of
// instances that start after it was made.
func (s *Store) PutListener(ctx context.Context, l Listener) (Listener, bool, error) {
	id, err := s.NextIDs(ctx, 1)
	if err != nil {
		return Listener{}, false, err
	}
	made := false
	err = s.write(ctx, func(tx *sqlTx) error {
		// The project's row is the lock: two writers together could pass the bound, or make one name twice.
		if err := s.lockProject(ctx, tx, l.ProjectID); err != nil {
			return err
		}
		now := s.millis()
		var known int64
		err := tx.QueryRowContext(ctx, `SELECT id FROM listener WHERE project_id = ? AND instance_id = 0 AND name_key = ?`, l.ProjectID, dag.FoldName(l.Name)).Scan(&known)
		if made = errors.Is(explain(err), ErrNotFound); !made {
			if err != nil {
				return err
			}
			set, args := "", []any{l.Name, l.Description, l.URL, encodeFilter(l.Filter), flag(l.Enabled), now}
			if l.Secret != nil {
				set, args = ", secret = ?", append(args, l.Secret)
			}
			_, err = tx.ExecContext(ctx, `UPDATE listener SET name = ?, description = ?, url = ?, filter = ?, enabled = ?, updated_at = ?`+set+` WHERE id = ?`, append(args, known)...)
			return err
		}
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM listener WHERE project_id = ? AND instance_id = 0`, l.ProjectID).Scan(&n); err != nil {
			return err
		}
		if n >= MaxListeners {
			return ErrFull
		}
		if l.Secret == nil {
			l.Secret = []byte{}
		}
		_, err = tx.ExecContext(ctx, s.dial.insert(listenerInsert, 1), id, l.ProjectID, 0, l.Name, dag.FoldName(l.Name), l.Description, l.URL, l.Secret,
			encodeFilter(l.Filter), "", laneOf(id), flag(l.Enabled), l.CreatedBy, now, now)
		return err
	})
	if err != nil {
		return Listener{}, false, fmt.Errorf("put listener %q: %w", l.Name, err)
	}
	out, err := s.Listener(ctx, l.ProjectID, l.Name)
	return out, made, err
}

// Listener returns the project's listener of that name, however it is written, or ErrNotFound.
func (s *Store) Listener(ctx context.Context, projectID int64, name string) (Listener, error) {
	l, err := scanListener(s.read.QueryRowContext(ctx, `SELECT `+listenerColumns+countDead+` FROM listener l WHERE l.project_id = ? AND l.instance_id = 0 AND l.name_key = ?`,
		projectID, dag.FoldName(name)).Scan)
	if err != nil {
		return Listener{}, fmt.Errorf("read listener %q: %w", name, explain(err))
	}
	return l, nil
}

// ListenerByID returns a listener, or the reply of the instance with that id; ErrNotFound where there is none.
func (s *Store) ListenerByID(ctx context.Context, id int64) (Listener, error) {
	l, err := scanListener(s.read.QueryRowContext(ctx, `SELECT `+listenerColumns+countDead+` FROM listener l WHERE l.id = ?`, id).Scan)
	if err != nil {
		return Listener{}, fmt.Errorf("read listener %d: %w", id, explain(err))
	}
	return l, nil
}

// Listeners returns a page of a project's listeners, by name, without the replies.
func (s *Store) Listeners(ctx context.Context, projectID int64, page Page) ([]Listener, string, error) {
	var after nameCursor
	if err := page.decode("listeners", &after); err != nil {
		return nil, "", err
	}
	limit := page.limit()
	out, err := collect(ctx, s, scanListener, `SELECT `+listenerColumns+countDead+` FROM listener l WHERE l.project_id = ? AND l.instance_id = 0 AND l.name_key > ?
		ORDER BY l.name_key LIMIT ?`, projectID, afterName(page, after), limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("read listeners of project %d: %w", projectID, err)
	}
	return cut(out, limit, "listeners", func(l Listener) any { return nameCursor{dag.FoldName(l.Name)} })
}

// ListenersOf returns the listeners of several projects by their names, at most limit.
func (s *Store) ListenersOf(ctx context.Context, projects []int64, limit int) ([]Listener, error) {
	var out []Listener
	for chunk := range slices.Chunk(projects, maxStatementRows) {
		args := make([]any, len(chunk), len(chunk)+1)
		for i, id := range chunk {
			args[i] = id
		}
		rows, err := collect(ctx, s, scanListener, `SELECT `+listenerColumns+countDead+` FROM listener l WHERE l.project_id IN (`+marks(len(chunk))+`) AND l.instance_id = 0
			ORDER BY l.name_key LIMIT ?`, append(args, limit-len(out))...)
		if err != nil {
			return nil, fmt.Errorf("read listeners of %d projects: %w", len(projects), err)
		}
		if out = append(out, rows...); len(out) >= limit {
			break
		}
	}
	return out, nil
}

// DeleteListener deletes a listener; what it has not heard yet, it never will.
func (s *Store) DeleteListener(ctx context.Context, projectID int64, name string) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		// Its deliveries go with the sweep: there may be very many. Until then a master passes over what is due.
		return metOne(tx.ExecContext(ctx, `DELETE FROM listener WHERE project_id = ? AND instance_id = 0 AND name_key = ?`, projectID, dag.FoldName(name)))
	})
	if err != nil {
		return fmt.Errorf("delete listener %q: %w", name, err)
	}
	return nil
}
