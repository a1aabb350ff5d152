package master

import (
	"testing"
	"time"

	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/registry/inprocess"
)

func TestWhoHasJustComeBackJudgesNobodyForTwoLeases(t *testing.T) {
	t.Parallel()
	const ttl = 5 * time.Second
	session, err := inprocess.New().Join(t.Context(), registry.Member{Role: registry.Master, Node: "m1", Incarnation: "a", StartedAt: 1}, ttl)
	if err != nil {
		t.Fatal(err)
	}
	at := time.UnixMilli(1_700_000_000_000)
	s := &standing{}
	s.stand(nil, at)
	s.stand(session, at)
	if !s.settled(at, ttl) {
		t.Error("a master that starts waits to judge")
	}
	s.stand(nil, at.Add(time.Minute))
	s.stand(nil, at.Add(time.Minute))
	back := at.Add(2 * time.Minute)
	s.stand(session, back)
	if s.settled(back.Add(2*ttl-time.Millisecond), ttl) {
		t.Error("a master that has come back judges others before they can be back")
	}
	if !s.settled(back.Add(2*ttl), ttl) {
		t.Error("a master that has come back never judges again")
	}
}

func TestAViewAfterAWipeIsLookedAtAgainWhenItCanBeTrusted(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	tr := trust{wait: 10 * time.Second}
	if tr.absences(registry.View{Wiped: true}, now) || tr.held == nil {
		t.Fatal("absences after a wipe are trusted, or forgotten")
	}
	if tr.absences(*tr.held, now.Add(9*time.Second)) {
		t.Error("they are trusted before everybody can be back")
	}
	if !tr.absences(*tr.held, now.Add(10*time.Second)) || tr.held != nil {
		t.Error("they are not trusted when everybody can be back, though no other view came")
	}
}
