package slot

import (
	"testing"
	"time"

	"github.com/porpoise/porpoise/registry"
)

// wish puts an ask into the registry.
func (w *world) wish(id string) {
	w.ask = &Ask{ID: id, By: "ann"}
	w.revision++
	w.changed()
}

func TestAnAskMakesOneLayoutWithTheSameOwners(t *testing.T) {
	t.Parallel()
	w := calm(t, "m1", "m2")
	before := *w.commit
	w.wish("1")
	w.until(t, "the ask is answered", func() bool { return w.commit.Ask == "1" })
	w.run(5 * time.Second)
	w.hold(t)
	if w.epoch() != before.Epoch+1 || w.commit.Moved != 0 || w.commit.Cause != "asked for by ann" {
		t.Errorf("epoch %d, %d slots moved, because of %q; want %d, none, and who asked", w.epoch(), w.commit.Moved, w.commit.Cause, before.Epoch+1)
	}
	w.wish("2")
	w.until(t, "the next ask is answered", func() bool { return w.commit.Ask == "2" })
	w.boot("m3", 1)
	w.run(5 * time.Second)
	w.hold(t)
	if w.epoch() != before.Epoch+3 || w.commit.Ask != "2" {
		t.Errorf("after a join epoch %d answers ask %q, want %d and still the last", w.epoch(), w.commit.Ask, before.Epoch+3)
	}
}

func TestAnAskLetsInAtOnceWhoWasLeftOutAndAnswers(t *testing.T) {
	t.Parallel()
	w := calm(t, "a", "b", "c")
	l := w.nodes["c"]
	l.slow = 4 * time.Second
	w.until(t, "its claim hangs", func() bool { return l.busy > 0 })
	w.run(100 * time.Millisecond)
	w.boot("d", 1)
	w.until(t, "it is left out", func() bool { return find(w.commit.Excluded, l.self) >= 0 })
	l.slow = 5 * time.Millisecond
	w.until(t, "it answers again", func() bool { return w.acks["c"].Epoch >= w.epoch() })
	w.wish("1")
	if took := w.until(t, "it is let in", func() bool { return len(w.commit.Members) == 4 }); took > readmitWait/2 {
		t.Errorf("it was let in after %v", took)
	}
	w.run(time.Second)
	w.hold(t)
}

func TestAnAskWithoutAnIDIsNone(t *testing.T) {
	t.Parallel()
	st, err := Read(registry.Listing{Entries: []registry.Entry{{Key: AskKey, Value: []byte(`{"by":"ann"}`)}}}, 4)
	if st.Ask != nil || err == nil {
		t.Errorf("ask %+v, error %v", st.Ask, err)
	}
}
