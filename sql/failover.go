package sql

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// FailoverKind says what died.
type FailoverKind string

// The kinds of failover.
const (
	FailoverMaster FailoverKind = "master"
	FailoverWorker FailoverKind = "worker"
)

// FailoverRow is one takeover by one master: of instances of a dead master, or of attempts of a
// lost worker. Of a dead master whose instances several took, each has written its own.
type FailoverRow struct {
	ID          int64
	Kind        FailoverKind
	Node        string // what died
	Incarnation string
	Master      string // who took over, "<node>:<incarnation>"
	Cause       string
	DetectedAt  dag.Millis
	FinishedAt  dag.Millis // when the last attempt's lot was known; 0 while it is not
	Instances   int
	Adopted     int // attempts that go on under their new master
	Lost        int // attempts that are over without a report
	Steps       []FailoverStep
}

// FailoverStep is one moment of a takeover.
type FailoverStep struct {
	Name string     `json:"name"`
	At   dag.Millis `json:"at"`
	// Instances are the first of those that were taken, in the step in which they were.
	Instances []int64 `json:"instances,omitempty"`
}

// MaxTaken bounds the instances that a failover names; the rest is only counted.
const MaxTaken = 200

const failoverColumns = `id, kind, node, incarnation, master, cause, detected_at, finished_at, instances, adopted, lost, steps`

// maxCause bounds the text of a cause in characters, as its column does.
const maxCause = 255

// SaveFailover writes a takeover and returns it with its id: the first time, with ID 0, as a new
// row, then over it.
func (s *Store) SaveFailover(ctx context.Context, f FailoverRow) (FailoverRow, error) {
	if cause := []rune(f.Cause); len(cause) > maxCause {
		f.Cause = string(cause[:maxCause])
	}
	if f.Steps == nil {
		f.Steps = []FailoverStep{}
	}
	steps, err := json.Marshal(f.Steps)
	if err != nil {
		return f, fmt.Errorf("encode steps of a failover: %w", err)
	}
	insert := f.ID == 0
	if insert {
		if f.ID, err = s.NextIDs(ctx, 1); err != nil {
			return f, fmt.Errorf("save failover of %s: %w", f.Node, err)
		}
	}
	err = s.write(ctx, func(tx *sqlTx) error {
		if insert {
			_, err := tx.ExecContext(ctx, `INSERT INTO failover (`+failoverColumns+`) VALUES (`+marks(12)+`)`, f.ID, string(f.Kind), f.Node, f.Incarnation,
				f.Master, f.Cause, f.DetectedAt, f.FinishedAt, f.Instances, f.Adopted, f.Lost, string(steps))
			return err
		}
		return metOne(tx.ExecContext(ctx, `UPDATE failover SET finished_at = ?, instances = ?, adopted = ?, lost = ?, steps = ? WHERE id = ?`,
			f.FinishedAt, f.Instances, f.Adopted, f.Lost, string(steps), f.ID))
	})
	if err != nil {
		return f, fmt.Errorf("save failover of %s: %w", f.Node, err)
	}
	return f, nil
}

// Failover returns a takeover, or ErrNotFound.
func (s *Store) Failover(ctx context.Context, id int64) (FailoverRow, error) {
	rows, err := collect(ctx, s, scanFailover, `SELECT `+failoverColumns+` FROM failover WHERE id = ?`, id)
	if err == nil && len(rows) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return FailoverRow{}, fmt.Errorf("read failover %d: %w", id, err)
	}
	return rows[0], nil
}

// Failovers returns a page of the takeovers, the newest first; of one kind unless that is "".
func (s *Store) Failovers(ctx context.Context, kind FailoverKind, page Page) ([]FailoverRow, string, error) {
	// Ids come in blocks, one per process: their order is not that of time.
	before := listCursor{At: 1<<63 - 1, ID: 1<<63 - 1}
	if err := page.decode("failovers", &before); err != nil {
		return nil, "", err
	}
	limit := page.limit()
	out, err := collect(ctx, s, scanFailover, `SELECT `+failoverColumns+` FROM failover
		WHERE (detected_at < ? OR detected_at = ? AND id < ?) AND (? = '' OR kind = ?) ORDER BY detected_at DESC, id DESC LIMIT ?`,
		int64(before.At), int64(before.At), before.ID, string(kind), string(kind), limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("read failovers: %w", err)
	}
	return cut(out, limit, "failovers", func(r FailoverRow) any { return listCursor{r.DetectedAt, r.ID} })
}

func scanFailover(scan func(...any) error) (FailoverRow, error) {
	var f FailoverRow
	var steps string
	err := scan(&f.ID, &f.Kind, &f.Node, &f.Incarnation, &f.Master, &f.Cause, &f.DetectedAt, &f.FinishedAt, &f.Instances, &f.Adopted, &f.Lost, &steps)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal([]byte(steps), &f.Steps); err != nil {
		return f, fmt.Errorf("decode steps of failover %d: %w", f.ID, err)
	}
	return f, nil
}

// maxFailovers is how many takeovers are kept: a busy cluster's of years.
const maxFailovers = 10_000

// sweepFailovers deletes the oldest takeovers beyond those that are kept, and returns how many.
func (s *Store) sweepFailovers(ctx context.Context) (int, error) {
	return s.sweepOldest(ctx, "failover", maxFailovers)
}
