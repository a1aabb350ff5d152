package apiserver

import (
	"context"
	"strings"
	"testing"
)

func TestAPasswordIsHashedAtTheUsualCostAndCheckedAtItsOwn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t, func(c *Config) { c.cost = passwordCost{} })
	hash, err := b.server.hashPassword(ctx, "correct horse battery")
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatalf("hash %q, %v; want argon2id of 19 MiB in two passes", hash, err)
	}
	before := b.server.cost
	b.server.cost = passwordCost{memoryKiB: 64, time: 3, threads: 2}
	old, err := b.server.hashPassword(ctx, "correct horse battery")
	b.server.cost = before
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		hash: true, old: true,
		strings.Replace(old, "t=3", "t=2", 1):           false,
		strings.Replace(old, "m=64", "m=4000000000", 1): false, // more memory than a sign-in may take
		strings.Replace(old, "v=19", "v=16", 1):         false,
		strings.Replace(old, "p=2", "p=0", 1):           false,
		"":                                              false,
	} {
		if ok, err := b.server.checkPassword(ctx, text, "correct horse battery"); err != nil || ok != want {
			t.Errorf("%s: %t, %v; want %t", text, ok, err, want)
		}
		if ok, _ := b.server.checkPassword(ctx, text, "correct horse batterz"); ok {
			t.Errorf("%s: another password is taken", text)
		}
	}
}
