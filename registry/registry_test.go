package registry

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestOfferKeepsTheNewestAndTheWipe(t *testing.T) {
	t.Parallel()
	views := make(chan View, 1)
	Offer(views, View{Revision: 1, Wiped: true}, MergeViews)
	Offer(views, View{Revision: 2}, MergeViews)
	if v := <-views; v.Revision != 2 || !v.Wiped {
		t.Errorf("received %+v, want revision 2 that tells of the wipe", v)
	}
	Offer(views, View{Revision: 3}, MergeViews)
	if v := <-views; v.Revision != 3 || v.Wiped {
		t.Errorf("received %+v, want revision 3 and no wipe", v)
	}
	listings := make(chan Listing, 1)
	Offer(listings, Listing{Revision: 1, Wiped: true}, MergeListings)
	Offer(listings, Listing{Revision: 2}, MergeListings)
	if l := <-listings; l.Revision != 2 || !l.Wiped {
		t.Errorf("received %+v, want revision 2 that tells of the wipe", l)
	}
}

func TestMemberRecordIsReadByOtherVersions(t *testing.T) {
	t.Parallel()
	m := Member{Role: Worker, Node: "w1", Incarnation: "a", Groups: []string{"gpu"}, Slots: 4, StartedAt: 5, Takeover: true}
	text, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"role":"worker","node":"w1","incarnation":"a","groups":["gpu"],"slots":4,"started_at":5}`; string(text) != want {
		t.Errorf("record = %s, want %s", text, want)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	fields["from_the_future"] = map[string]int{"x": 1}
	if text, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	got, err := DecodeMember(text)
	m.Takeover = false
	if err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("DecodeMember(%s) = %+v, %v, want %+v", text, got, err, m)
	}
}

func TestBrokenRecordsAreInvalid(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "null", "[]", `{"role":"worker"}`, `{"role":"king","node":"a","incarnation":"b"}`,
		`{"role":"worker","node":"a/b","incarnation":"b"}`, `{"role":"worker","node":"a","incarnation":"b","slots":"x"}`, strings.Repeat(" ", MaxRecordBytes+1),
	} {
		if m, err := DecodeMember([]byte(text)); !errors.Is(err, ErrInvalid) {
			t.Errorf("DecodeMember(%.60q) = %+v, %v, want ErrInvalid", text, m, err)
		}
	}
	big := Member{Role: Worker, Node: "a", Incarnation: "b", Version: strings.Repeat("x", MaxRecordBytes)}
	if _, err := big.Encode(); !errors.Is(err, ErrInvalid) {
		t.Errorf("Encode of a large record = %v, want ErrInvalid", err)
	}
}

func TestKeysAreNamesBetweenSlashes(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"a", "a/b", "slots/0-255/ack.1", "1/2/3/4/5/6/7/8", strings.Repeat("x", 128)} {
		if err := CheckKey(good); err != nil {
			t.Errorf("CheckKey(%q) = %v", good, err)
		}
	}
	for _, bad := range []string{"", "/", "a/", "/a", "a//b", "a/../b", ".", "a b", "é", "a\n", "1/2/3/4/5/6/7/8/9", strings.Repeat("x", 129)} {
		if err := CheckKey(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("CheckKey(%q) = %v, want ErrInvalid", bad, err)
		}
	}
}

func FuzzDecodeMember(f *testing.F) {
	f.Add([]byte(`{"role":"worker","node":"w1","incarnation":"a","groups":["gpu"],"slots":4}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := DecodeMember(text)
		if err != nil {
			return
		}
		again, err := m.Encode()
		if errors.Is(err, ErrInvalid) {
			return // escapes may make it longer than what is kept
		}
		if back, derr := DecodeMember(again); err != nil || derr != nil || !back.Same(m) {
			t.Errorf("%q is %+v, then %+v: %v, %v", text, m, back, err, derr)
		}
	})
}
