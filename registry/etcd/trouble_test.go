package etcd

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/porpoise/porpoise/registry"
)

// Requirement F28: an etcd whose quota is used up takes no records, and members stay members.
func TestAFullEtcdKeepsItsMembers(t *testing.T) {
	t.Parallel()
	members := external(t, 1, func(c *embed.Config) { c.QuotaBackendBytes = 1 << 20 })
	client := connect(t, endpoints(members)...)
	r := open(t, client, "c")
	const ttl = 3 * time.Second
	s := join(t, r, testMember(registry.Worker, "w1"), ttl)
	views, err := r.Watch(t.Context(), registry.Worker)
	if err != nil {
		t.Fatal(err)
	}
	await(t, views, 1)
	full := false
	for i := 0; i < 64 && !full; i++ {
		_, err := client.Put(limit(t), "elsewhere", string(make([]byte, 256<<10)))
		full = err != nil
	}
	if !full {
		t.Fatal("64 times 256 KiB fit into 1 MiB")
	}
	if _, err := r.Put(limit(t), "k", []byte("v"), registry.If{}); !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("a write: %v, want ErrUnavailable", err)
	}
	if _, err := r.Join(limit(t), testMember(registry.Worker, "w2"), ttl); !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("a join: %v, want ErrUnavailable", err)
	}
	since := time.Now()
	for !s.LastRenewed().After(since.Add(ttl)) {
		select {
		case <-s.Lost():
			t.Fatalf("session lost: %v", s.Err())
		case v := <-views:
			t.Fatalf("the list changed: %+v", v)
		case <-limit(t).Done():
			t.Fatal("not renewed while etcd is full")
		case <-time.After(20 * time.Millisecond): // LastRenewed has no signal
		}
	}
	// What an operator does then.
	got, err := client.Get(limit(t), "elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Compact(limit(t), got.Header.Revision); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Defragment(limit(t), client.Endpoints()[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := client.AlarmDisarm(limit(t), &clientv3.AlarmMember{}); err != nil {
		t.Fatal(err)
	}
	leave(t, join(t, r, testMember(registry.Worker, "w2"), ttl))
	leave(t, s)
}

// Requirement F25: an etcd that was set back to a backup is told as one that was wiped: what it lacks is
// no sign that anybody is gone.
func TestASetBackServerIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now, backup := filepath.Join(dir, "now"), filepath.Join(dir, "backup")
	e, err := Embed(limit(t), EmbedConfig{Dir: now, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	addr := e.Addr()
	r := open(t, connect(t, addr), "c")
	if _, err := r.Put(limit(t), "k", []byte("old"), registry.If{}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(backup, os.DirFS(now)); err != nil {
		t.Fatal(err)
	}
	if e, err = Embed(limit(t), EmbedConfig{Dir: now, Listen: addr}); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if _, err := r.Put(limit(t), "k", []byte{byte(i)}, registry.If{}); err != nil {
			t.Fatal(err)
		}
	}
	s := join(t, r, testMember(registry.Master, "m1"), 4*time.Second)
	views, err := r.Watch(t.Context(), registry.Master)
	if err != nil {
		t.Fatal(err)
	}
	await(t, views, 1)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	embedded(t, EmbedConfig{Dir: backup, Listen: addr})
	if v := await(t, views, 0); !v.Wiped {
		t.Errorf("the view after the step back = %+v, want it wiped", v)
	}
	select {
	case <-s.Lost():
	case <-limit(t).Done():
		t.Fatal("the session outlived its record")
	}
	leave(t, s)
	leave(t, join(t, r, testMember(registry.Master, "m1"), 2*time.Second))
}
