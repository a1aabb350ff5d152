package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/porpoise/porpoise/dag"
)

// DeliveryState says whether a delivery goes on.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryIdle DeliveryState = "idle" // the listener has heard of all that it wants to hear of
	DeliveryDue  DeliveryState = "due"  // a master looks at it at NextAt: there may be news, or a failed call is repeated
	DeliveryDead DeliveryState = "dead" // given up; somebody may ask for it again
)

// Delivery is how far a listener has heard of an instance.
type Delivery struct {
	ListenerID int64
	InstanceID int64
	Lane       string // deliveries of one lane share a bound
	State      DeliveryState
	Seq        int64 // events up to this one are delivered, or nothing to the listener; -1 before the first of all
	Attempts   int   // failed calls for the event behind Seq
	NextAt     dag.Millis
	Since      dag.Millis // of the first of the failed calls; 0 for none
	Status     int        // of the last answer; 0 where none came
	Error      string     // of the last call; "" where it succeeded
	UpdatedAt  dag.Millis
	// Fence and Wakes are of the claim: see ClaimDeliveries.
	Fence, Wakes int64
	Workflow     string // of the instance, or of the schedule that an alert is about; joined
	// Alert says that InstanceID is that of an alert, and Kind and Subject which one; joined.
	Alert         bool
	Kind, Subject string
}

const selectDelivery = `SELECT d.listener_id, d.instance_id, d.lane, d.state, d.seq, d.attempts, d.next_at, d.since, d.status, d.error, d.updated_at, d.fence, d.wakes,
	COALESCE(w.name, a.workflow, ''), CASE WHEN a.id IS NULL THEN 0 ELSE 1 END, COALESCE(a.kind, ''), COALESCE(a.subject, '') FROM delivery d
	LEFT JOIN workflow_instance i ON i.id = d.instance_id LEFT JOIN workflow w ON w.id = i.workflow_id LEFT JOIN alert a ON a.id = d.instance_id`

func scanDelivery(scan func(...any) error) (d Delivery, err error) {
	return d, scan(&d.ListenerID, &d.InstanceID, &d.Lane, &d.State, &d.Seq, &d.Attempts, &d.NextAt, &d.Since, &d.Status, &d.Error, &d.UpdatedAt, &d.Fence, &d.Wakes,
		&d.Workflow, &d.Alert, &d.Kind, &d.Subject)
}

// listen gives the starts' instances to the listeners of their projects, and to those that they brought.
func (b *batch) listen(ctx context.Context, starts []*Start) error {
	if len(starts) == 0 {
		return nil
	}
	heard, err := b.heardProjects(ctx, starts)
	if err != nil {
		return fmt.Errorf("read projects with listeners: %w", err)
	}
	var ids []int64
	var replies []any
	for _, st := range starts {
		if heard[st.ProjectID] || st.Reply != nil {
			ids = append(ids, st.ID)
		}
		if r := st.Reply; r != nil {
			secret := r.Secret
			if secret == nil {
				secret = []byte{}
			}
			replies = append(replies, st.ID, st.ProjectID, st.ID, "", []byte{}, "", r.URL, secret, encodeFilter(r.Filter), r.CorrelationID, "reply "+r.Receiver,
				int64(1), st.By, int64(st.At), int64(st.At))
		}
	}
	if err := b.rows(ctx, listenerInsert, b.s.dial.insert, replies); err != nil {
		return fmt.Errorf("insert replies: %w", err)
	}
	now := int64(b.s.millis())
	err = b.execIDs(ctx, `INSERT INTO delivery (listener_id, instance_id, lane, state, seq, wakes, fence, attempts, next_at, since, status, error, updated_at)
		SELECT l.id, i.id, l.lane, 'due', -1, 0, 0, 0, ?, 0, 0, '', ? FROM workflow_instance i JOIN listener l ON l.project_id = i.project_id
		AND l.instance_id IN (0, i.id) AND l.enabled = 1 WHERE i.id IN (%s)`, ids, now, now)
	if err != nil {
		return fmt.Errorf("insert deliveries: %w", err)
	}
	err = b.execIDs(ctx, `UPDATE workflow_instance SET listened = 1 WHERE id IN (%s)
		AND EXISTS (SELECT 1 FROM delivery d WHERE d.instance_id = workflow_instance.id)`, ids)
	if err != nil {
		return fmt.Errorf("mark instances that somebody listens to: %w", err)
	}
	return nil
}

// heardProjects returns which projects of starts have listeners: mostly none, and then its starts need no more statements.
func (b *batch) heardProjects(ctx context.Context, starts []*Start) (map[int64]bool, error) {
	var ids []int64
	for _, st := range starts {
		ids = append(ids, st.ProjectID)
	}
	slices.Sort(ids)
	out := map[int64]bool{}
	err := eachChunk(slices.Compact(ids), func(chunk []any) error {
		return b.eachRow(ctx, `SELECT DISTINCT project_id FROM listener WHERE instance_id = 0 AND enabled = 1 AND project_id IN (`+marks(len(chunk))+`)`, chunk,
			func(scan func(...any) error) error {
				var id int64
				err := scan(&id)
				out[id] = true
				return err
			})
	})
	return out, err
}

// tell wakes the deliveries of the instances that have new events. One that a master has at this moment stays
// its own: it sees by wakes that there is more.
func (b *batch) tell(ctx context.Context, ops []*operation) error {
	var ids []int64
	for _, o := range ops {
		if b.locked[o.commit.Instance.ID].listened && len(o.commit.Effects.Events) > 0 {
			ids = append(ids, o.commit.Instance.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	// MySQL assigns from the left: next_at must come before state.
	err := b.execIDs(ctx, `UPDATE delivery SET wakes = wakes + 1, next_at = CASE WHEN state = 'idle' THEN ? ELSE next_at END,
		state = CASE WHEN state = 'idle' THEN 'due' ELSE state END WHERE instance_id IN (%s)`, ids, int64(b.s.millis()))
	if err != nil {
		return fmt.Errorf("wake deliveries: %w", err)
	}
	return nil
}

// DueLanes returns up to limit lanes behind after, in their order, in which a delivery is due at now. Lanes in
// which all is idle cost it nothing, others a few steps through an index each, however much waits in them.
func (s *Store) DueLanes(ctx context.Context, now dag.Millis, after string, limit int) ([]string, error) {
	return s.lanes(ctx, DeliveryDue, now, after, limit)
}

// lanes returns lanes that have a delivery of a state whose next moment is not after one.
func (s *Store) lanes(ctx context.Context, state DeliveryState, at dag.Millis, after string, limit int) ([]string, error) {
	// Each step of the recursion jumps to the next lane.
	out, err := collect(ctx, s, func(scan func(...any) error) (lane string, err error) { return lane, scan(&lane) },
		`WITH RECURSIVE step (lane) AS (SELECT MIN(lane) FROM delivery WHERE state = ? AND lane > ?
			UNION ALL SELECT (SELECT MIN(d.lane) FROM delivery d WHERE d.state = ? AND d.lane > step.lane) FROM step WHERE step.lane IS NOT NULL)
		SELECT lane FROM step WHERE lane IS NOT NULL AND (SELECT MIN(d.next_at) FROM delivery d WHERE d.state = ? AND d.lane = step.lane) <= ? LIMIT ?`,
		string(state), after, string(state), string(state), at, limit)
	if err != nil {
		return nil, fmt.Errorf("read lanes of deliveries: %w", err)
	}
	return out, nil
}

// ClaimDeliveries takes up to limit deliveries of a lane that are due at now, those first that wait longest,
// until a moment: a master that dies with them loses them then. What it writes of one counts while nobody took it
// since, see SaveDelivery.
func (s *Store) ClaimDeliveries(ctx context.Context, lane string, now, until dag.Millis, limit int) ([]Delivery, error) {
	due, err := collect(ctx, s, scanDelivery, selectDelivery+` WHERE d.state = 'due' AND d.lane = ? AND d.next_at <= ? ORDER BY d.next_at LIMIT ?`, lane, now, limit)
	if err != nil {
		return nil, fmt.Errorf("read due deliveries: %w", err)
	}
	var out []Delivery
	for _, d := range due {
		err := s.write(ctx, func(tx *sqlTx) error {
			err := metOne(tx.ExecContext(ctx, `UPDATE delivery SET fence = fence + 1, next_at = ? WHERE listener_id = ? AND instance_id = ? AND fence = ? AND state = 'due'`,
				until, d.ListenerID, d.InstanceID, d.Fence))
			if err != nil {
				return err
			}
			// As the row says now, since events may have come: the row is locked.
			return tx.QueryRowContext(ctx, `SELECT wakes FROM delivery WHERE listener_id = ? AND instance_id = ?`, d.ListenerID, d.InstanceID).Scan(&d.Wakes)
		})
		switch {
		case errors.Is(err, ErrNotFound):
			continue // another master was first
		case err != nil:
			return out, fmt.Errorf("claim delivery of instance %d to listener %d: %w", d.InstanceID, d.ListenerID, err)
		}
		d.Fence, d.NextAt = d.Fence+1, until
		out = append(out, d)
	}
	return out, nil
}

// SaveDelivery writes how a claimed delivery stands; ErrStale where another master took it, or somebody asked for
// it again. One that would be idle is due again where events came since it was claimed.
func (s *Store) SaveDelivery(ctx context.Context, d Delivery) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		state, args := "?", []any{string(d.State)}
		if d.State == DeliveryIdle {
			state, args = "CASE WHEN wakes = ? THEN 'idle' ELSE 'due' END", []any{d.Wakes}
		}
		args = append(args, d.Seq, d.Attempts, d.NextAt, d.Since, d.Status, d.Error, s.millis(), d.ListenerID, d.InstanceID, d.Fence)
		return metOne(tx.ExecContext(ctx, `UPDATE delivery SET state = `+state+`, seq = ?, attempts = ?, next_at = ?, since = ?, status = ?, error = ?, updated_at = ?
			WHERE listener_id = ? AND instance_id = ? AND fence = ?`, args...))
	})
	if errors.Is(err, ErrNotFound) {
		err = ErrStale
	}
	if err != nil {
		return fmt.Errorf("save delivery of instance %d to listener %d: %w", d.InstanceID, d.ListenerID, err)
	}
	return nil
}

// Deliveries returns a page of a listener's deliveries, the newest instance first.
func (s *Store) Deliveries(ctx context.Context, listenerID int64, state DeliveryState, page Page) ([]Delivery, string, error) {
	var after keyCursor
	if err := page.decode("deliveries", &after); err != nil {
		return nil, "", err
	}
	limit, where, args := page.limit(), ` WHERE d.listener_id = ?`, []any{listenerID}
	if page.Cursor != "" {
		where, args = where+` AND d.instance_id < ?`, append(args, after.Key)
	}
	if state != "" {
		where, args = where+` AND d.state = ?`, append(args, string(state))
	}
	out, err := collect(ctx, s, scanDelivery, selectDelivery+where+` ORDER BY d.instance_id DESC LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, "", fmt.Errorf("read deliveries of listener %d: %w", listenerID, err)
	}
	return cut(out, limit, "deliveries", func(d Delivery) any { return keyCursor{d.InstanceID} })
}

// Delivery returns how far a listener has heard of an instance; ErrNotFound where it never was to.
func (s *Store) Delivery(ctx context.Context, listenerID, instanceID int64) (Delivery, error) {
	d, err := scanDelivery(s.read.QueryRowContext(ctx, selectDelivery+` WHERE d.listener_id = ? AND d.instance_id = ?`, listenerID, instanceID).Scan)
	if err != nil {
		return Delivery{}, fmt.Errorf("read delivery of instance %d to listener %d: %w", instanceID, listenerID, explain(err))
	}
	return d, nil
}

// Redeliver makes a dead delivery due again; with skip it goes on behind the event that could not be delivered.
// It returns ErrNotFound where there is no such delivery, or none that is dead.
func (s *Store) Redeliver(ctx context.Context, listenerID, instanceID int64, skip bool) error {
	err := s.write(ctx, func(tx *sqlTx) error {
		return metOne(tx.ExecContext(ctx, `UPDATE delivery SET state = 'due', fence = fence + 1, seq = seq + ?, attempts = 0, since = 0, next_at = ?
			WHERE listener_id = ? AND instance_id = ? AND state = 'dead'`, flag(skip), s.millis(), listenerID, instanceID))
	})
	if err != nil {
		return fmt.Errorf("redeliver instance %d to listener %d: %w", instanceID, listenerID, err)
	}
	return nil
}
