// Package binding holds a database and a registry together: two sets of masters that share a
// database but coordinate by different registries would each think themselves alone. It owns the id
// that stands in both, and the beat in the database by which a registry that was wiped is told from
// a second one. It never touches anything else of either, and no safety of a run depends on it. cmd
// checks the binding before a master starts, and keeps it in every process that has both.
package binding

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/registry"
)

// What a caller decides on; everything else is an error of the registry or of the database.
var (
	// ErrForeign says that the database belongs to another registry. It does not pass by itself.
	ErrForeign = errors.New("the registry is not the one of this database")
	// ErrMoved is for Rows: the database does not say what it was thought to say.
	ErrMoved = errors.New("the database's registry changed meanwhile")
)

const (
	// Key is where the registry keeps its id.
	Key = "registry-id"
	// BeatEvery is how often a process shows that it lives.
	BeatEvery = 2 * time.Second
	// quiet is how long no beat must be seen before an empty registry is taken for a wiped one: four
	// beats, so that a process whose database hangs for a moment is not overlooked.
	quiet = 4 * BeatEvery
	// lookEvery is the pause between two looks within that time.
	lookEvery = 500 * time.Millisecond
	// maxRounds bounds how often others may be quicker before the caller hears of it.
	maxRounds = 20
	// callWait bounds one step of the keeper.
	callWait = 5 * time.Second
)

// Row is what the database says.
type Row struct {
	ID   string // of the registry; "" before the first
	Beat int64  // rises while a process lives
}

// Rows is the database's side. Bind and Beat return ErrMoved where the id is another.
type Rows interface {
	Registry(ctx context.Context) (Row, error)
	Bind(ctx context.Context, from, to string) error
	Beat(ctx context.Context, id string) error
}

// Config is what a Binding needs; fields without a remark are required.
type Config struct {
	Registry registry.Store
	Rows     Rows
	Logger   hclog.Logger
	// Token makes an id; nil makes random ones.
	Token func() string
}

// Binding is one process's view of whether its registry and its database belong together. Its
// methods are for one goroutine at a time.
type Binding struct {
	Config
	log hclog.Logger
	// mark is what stands in the registry; zero while not bound.
	mark mark
}

// mark is the registry's side. Follows is the id that the database had when the registry was given this
// one, so that a process that died between the two writes is followed by one that ends its work.
type mark struct {
	ID      string `json:"id"`
	Follows string `json:"follows,omitempty"`
}

// New returns a Binding that is not checked yet.
func New(c Config) *Binding {
	if c.Token == nil {
		c.Token = rand.Text
	}
	return &Binding{Config: c, log: c.Logger.Named("binding")}
}

// Bound says that a check found registry and database to belong together.
func (b *Binding) Bound() bool { return b.mark.ID != "" }

// Check returns nil when the registry and the database belong together: they did, or neither
// knew the other, or the registry was wiped and no process of the cluster lives; the last takes eight seconds
// to see. It returns ErrForeign where they do not.
func (b *Binding) Check(ctx context.Context) error {
	var w watch
	for range maxRounds {
		seen, err := b.look(ctx)
		if err != nil {
			return err
		}
		switch {
		case seen.mark.ID != "" && seen.mark.ID == seen.row.ID:
			b.mark = seen.mark
			return nil
		case seen.row.ID == "" && seen.mark.ID == "":
			err = b.write(ctx, mark{ID: b.Token()})
		case seen.row.ID == "":
			err = b.bind(ctx, seen)
		case seen.mark.ID != "" && seen.mark.Follows != seen.row.ID:
			return fmt.Errorf("%w: the database belongs to registry %s, this one is %s", ErrForeign, seen.row.ID, seen.mark.ID)
		default:
			err = b.inherit(ctx, seen, &w)
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("bind registry and database: others were quicker %d times", maxRounds)
}

// view is what both sides say.
type view struct {
	row  Row
	mark mark // zero: the registry says nothing
}

// look reads the database first: what it says is then in the registry already.
func (b *Binding) look(ctx context.Context) (view, error) {
	row, err := b.Rows.Registry(ctx)
	if err != nil {
		return view{}, err
	}
	m, err := b.read(ctx)
	return view{row, m}, err
}

func (b *Binding) read(ctx context.Context) (mark, error) {
	e, err := b.Registry.Get(ctx, Key)
	if errors.Is(err, registry.ErrNotFound) {
		return mark{}, nil
	}
	if err != nil {
		return mark{}, err
	}
	var m mark
	if err := json.Unmarshal(e.Value, &m); err != nil || m.ID == "" {
		return mark{}, fmt.Errorf("%w: its key %s holds %.80q", ErrForeign, Key, e.Value)
	}
	return m, nil
}

// write marks a registry that is not; another that was quicker is no error.
func (b *Binding) write(ctx context.Context, m mark) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write %s: %w", Key, err)
	}
	if _, err := b.Registry.Put(ctx, Key, text, registry.If{Absent: true}); !errors.Is(err, registry.ErrConflict) {
		return err
	}
	return nil
}

// bind has the database follow the registry; another that was quicker is no error.
func (b *Binding) bind(ctx context.Context, seen view) error {
	err := b.Rows.Bind(ctx, seen.row.ID, seen.mark.ID)
	if errors.Is(err, ErrMoved) {
		return nil
	}
	if err == nil {
		b.log.Info("the database belongs to this registry from now on", "registry", seen.mark.ID, "before", seen.row.ID)
	}
	return err
}

// watch is what was seen of a database whose registry is missing.
type watch struct {
	first *Row
	over  bool // nobody lives
}

// inherit gives a registry that is empty, though the database knows one, the place of that one, once
// it is sure that no process lives that uses it. It gets an id of its own: should the old registry come
// back, it is known to be the wrong one.
func (b *Binding) inherit(ctx context.Context, seen view, w *watch) error {
	if !w.over {
		b.log.Warn("the registry is empty, though this database had one: looking whether it was wiped, or another cluster uses the database",
			"registry_before", seen.row.ID, "for", quiet.String())
		settled, err := b.await(ctx, w)
		if err != nil || settled {
			return err
		}
		w.over = true
		return nil // with fresh eyes
	}
	if seen.mark.ID == "" {
		return b.write(ctx, mark{ID: b.Token(), Follows: seen.row.ID})
	}
	return b.bind(ctx, seen)
}

// await looks on until the quiet time is over. settled says that there is something else to judge.
func (b *Binding) await(ctx context.Context, w *watch) (settled bool, err error) {
	end := time.Now().Add(quiet)
	alive := false
	for {
		seen, err := b.look(ctx)
		if err != nil {
			return false, err
		}
		if w.first == nil {
			w.first = &seen.row
		}
		if seen.mark.ID == seen.row.ID || seen.row.ID == "" {
			return true, nil
		}
		alive = alive || seen.row != *w.first
		if !time.Now().Before(end) {
			if alive {
				return false, fmt.Errorf("%w: this one is empty, and processes live that use the database with registry %s", ErrForeign, seen.row.ID)
			}
			return false, nil
		}
		if !pause(ctx, lookEvery) {
			return false, ctx.Err()
		}
	}
}

// pause waits for a while; it returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
