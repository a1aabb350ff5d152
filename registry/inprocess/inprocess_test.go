package inprocess_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/registry/inprocess"
	"github.com/porpoise/porpoise/registry/registrytest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	registrytest.Run(t, func(*testing.T) registrytest.Fixture {
		r := inprocess.New()
		return registrytest.Fixture{
			Registry: r,
			Expire:   func(_ *testing.T, role registry.Role, node string) { r.Expire(role, node) },
			Corrupt:  func(_ *testing.T, role registry.Role, node, text string) { r.Plant(role, node, text) },
		}
	})
}

func TestOutageSilencesSessionsButExpiresNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const ttl = 6 * time.Second
		r := inprocess.New()
		views, err := r.Watch(t.Context(), registry.Master)
		if err != nil {
			t.Fatal(err)
		}
		<-views
		s, err := r.Join(t.Context(), registry.Member{Role: registry.Master, Node: "m1", Incarnation: "a"}, ttl)
		if err != nil {
			t.Fatal(err)
		}
		<-views
		r.SetDown(true)
		down := time.Now()
		<-s.Lost()
		if took := time.Since(down); took != ttl-registry.Margin(ttl) {
			t.Errorf("lost after %v, want %v", took, ttl-registry.Margin(ttl))
		}
		if !errors.Is(s.Err(), registry.ErrSilent) || !s.LastRenewed().Equal(down) {
			t.Errorf("Err = %v, last renewed %v after the outage began", s.Err(), s.LastRenewed().Sub(down))
		}
		if _, err := r.Get(t.Context(), "a"); !errors.Is(err, registry.ErrUnavailable) {
			t.Errorf("Get while down = %v", err)
		}
		time.Sleep(time.Hour) // virtual
		select {
		case v := <-views:
			t.Errorf("a view came during the outage: %+v", v)
		default:
		}
		r.SetDown(false)
		up := time.Now()
		if v := <-views; len(v.Members) != 0 || time.Since(up) != ttl {
			t.Errorf("%v after the return the list is %+v, want it empty after %v", time.Since(up), v.Members, ttl)
		}
	})
}

func TestShortOutageLosesNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := inprocess.New()
		s, err := r.Join(t.Context(), registry.Member{Role: registry.Master, Node: "m1", Incarnation: "a"}, 6*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		r.SetDown(true)
		time.Sleep(4 * time.Second) // virtual
		r.SetDown(false)
		time.Sleep(time.Minute) // virtual
		if err := s.Err(); err != nil {
			t.Errorf("session = %v, want it alive", err)
		}
	})
}

func TestComingBackAfterAnOutageKeepsTheNewSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := inprocess.New()
		m := registry.Member{Role: registry.Master, Node: "m1", Incarnation: "a"}
		old, err := r.Join(t.Context(), m, 2*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		r.SetDown(true)
		<-old.Lost()
		r.SetDown(false)
		s, err := r.Join(t.Context(), m, 2*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // virtual
		if err := s.Err(); err != nil {
			t.Errorf("the new session = %v, want it alive", err)
		}
	})
}

func TestWipeIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := inprocess.New()
		views, err := r.Watch(t.Context(), registry.Master)
		if err != nil {
			t.Fatal(err)
		}
		<-views
		s, err := r.Join(t.Context(), registry.Member{Role: registry.Master, Node: "m1", Incarnation: "a"}, 2*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		<-views
		r.Wipe()
		<-s.Lost()
		synctest.Wait()
		if v := <-views; !v.Wiped || len(v.Members) != 0 {
			t.Errorf("after the wipe the view is %+v, want it wiped and empty", v)
		}
	})
}
