package slot

import "sync"

// Table is what this master may take right now. It is safe for many goroutines.
type Table struct {
	mu      sync.Mutex
	open    bool
	owned   []bool
	epoch   int64
	shared  bool
	taking  int    // between Begin and End
	told    func() // to be called once nobody takes; nil when nobody asks
	changed chan struct{}
}

// NewTable returns a table of n slots, of which none is owned until the first Open.
func NewTable(n int) *Table {
	return &Table{owned: make([]bool, n), changed: make(chan struct{}, 1)}
}

// Begin asks to take commands, and says of which slots and by which layout's epoch. Whoever
// was allowed must call End when his claim has ended, however it did. The caller must not change owned.
func (t *Table) Begin() (owned []bool, epoch int64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.open {
		return nil, 0, false
	}
	t.taking++
	return t.owned, t.epoch, true
}

// End says that what began with Begin is over.
func (t *Table) End() {
	t.mu.Lock()
	t.taking--
	told := t.told
	if t.taking > 0 {
		told = nil
	} else {
		t.told = nil
	}
	t.mu.Unlock()
	if told != nil {
		told()
	}
}

// Open lets commands of these slots be taken, in the name of a layout's epoch. shared says that
// there are other masters, too.
func (t *Table) Open(owned []bool, epoch int64, shared bool) {
	t.mu.Lock()
	t.open, t.owned, t.epoch, t.shared = true, owned, epoch, shared
	t.mu.Unlock()
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// Close lets nothing begin any more, and calls quiet, once, when what had begun is over. A later
// Close takes the place of one that was not answered yet.
func (t *Table) Close(quiet func()) {
	t.mu.Lock()
	t.open = false
	busy := t.taking > 0
	t.told = nil
	if busy {
		t.told = quiet
	}
	t.mu.Unlock()
	if !busy {
		quiet()
	}
}

// Owned returns which slots are this master's; none while the table is closed.
func (t *Table) Owned() []bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.open {
		return make([]bool, len(t.owned))
	}
	return t.owned
}

// Shared says that other masters have slots, too.
func (t *Table) Shared() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shared
}

// Changed receives after an Open.
func (t *Table) Changed() <-chan struct{} { return t.changed }
