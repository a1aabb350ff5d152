package etcd

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/porpoise/porpoise/registry"
)

// An etcd that is away comes back; one that does not let us in has to be told apart, or a start waits for ever.
func TestAnEtcdThatDeniesIsNotOneThatIsAway(t *testing.T) {
	t.Parallel()
	at := endpoints(external(t, 1))
	ctx := limit(t)
	root := connect(t, at...)
	for _, err := range []error{
		second(root.UserAdd(ctx, "root", "secret")), second(root.UserGrantRole(ctx, "root", "root")),
		second(root.UserAdd(ctx, "nobody", "secret")), second(root.AuthEnable(ctx)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func(cfg ClientConfig) error {
		client, err := Dial(ctx, cfg)
		if err != nil {
			return err
		}
		defer client.Close() // a test's client
		reg, err := New(client, "c1", nil)
		if err != nil {
			return err
		}
		if _, err = reg.Get(ctx, "x"); errors.Is(err, registry.ErrNotFound) {
			return nil
		}
		return err
	}
	for name, c := range map[string]struct {
		cfg                 ClientConfig
		unavailable, denied bool
	}{
		"the right password":   {ClientConfig{Endpoints: at, Username: "root", Password: "secret"}, false, false},
		"a wrong password":     {ClientConfig{Endpoints: at, Username: "root", Password: "guessed"}, true, true},
		"no user":              {ClientConfig{Endpoints: at}, true, true},
		"a user without roles": {ClientConfig{Endpoints: at, Username: "nobody", Password: "secret"}, true, true},
		"nobody listens":       {ClientConfig{Endpoints: []string{freeURL(t).Host}, Username: "root", Password: "secret"}, true, false},
	} {
		err := read(c.cfg)
		if errors.Is(err, registry.ErrUnavailable) != c.unavailable || errors.Is(err, registry.ErrDenied) != c.denied || (err != nil) != c.unavailable {
			t.Errorf("%s: %v; want unavailable %v, denied %v", name, err, c.unavailable, c.denied)
		}
	}
	if _, err := Dial(ctx, ClientConfig{}); err == nil || errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("without endpoints: %v, want an error that does not pass", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestADialEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	began := time.Now()
	if _, err := Dial(ctx, ClientConfig{Endpoints: []string{freeURL(t).Host}, Username: "u", Password: "p"}); err == nil {
		t.Error("dialled what nobody listens on")
	}
	if took := time.Since(began); took > dialTimeout/2 {
		t.Errorf("it took %s to give up", took)
	}
}
