package etcd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/registry/registrytest"
)

// patience is how long anything may take before a test fails.
const patience = 20 * time.Second

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		child(dir)
		return
	}
	os.Exit(m.Run())
}

var fixtures atomic.Int64

// fixture opens a fresh Porpoise cluster on an etcd that others use too.
func fixture(t *testing.T, client *clientv3.Client) registrytest.Fixture {
	t.Helper()
	r := open(t, client, fmt.Sprintf("c%d", fixtures.Add(1)))
	return registrytest.Fixture{
		Registry: r,
		Expire: func(t *testing.T, role registry.Role, node string) {
			got, err := client.Get(limit(t), r.memberKey(role, node))
			if err != nil || len(got.Kvs) != 1 {
				t.Fatalf("member to expire: %v, %v", got, err)
			}
			if _, err := client.Revoke(limit(t), clientv3.LeaseID(got.Kvs[0].Lease)); err != nil {
				t.Fatal(err)
			}
		},
		Corrupt: func(t *testing.T, role registry.Role, node, text string) {
			if _, err := client.Put(limit(t), r.memberKey(role, node), text); err != nil {
				t.Fatal(err)
			}
		},
	}
}

func open(t *testing.T, client *clientv3.Client, cluster string) *Registry {
	t.Helper()
	r, err := New(client, cluster, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func limit(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func connect(t *testing.T, endpoints ...string) *clientv3.Client {
	t.Helper()
	client, err := Dial(t.Context(), ClientConfig{Endpoints: endpoints})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() }) // a test's client
	return client
}

// etcdMember is one server of an external cluster; it may be closed twice.
type etcdMember struct {
	*embed.Etcd
	once sync.Once
}

func (m *etcdMember) close() { m.once.Do(m.Close) }

// external starts n etcd members with real sockets, as an external cluster has them.
func external(t *testing.T, n int, change ...func(*embed.Config)) []*etcdMember {
	t.Helper()
	configs := make([]*embed.Config, n)
	var initial []string
	for i := range n {
		c := embed.NewConfig()
		c.Name, c.Dir = fmt.Sprintf("e%d", i), t.TempDir()
		c.TickMs, c.ElectionMs = 50, 500
		peer, client := freeURL(t), freeURL(t)
		c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
		c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
		c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zapLogger(hclog.NewNullLogger()))
		for _, f := range change {
			f(c)
		}
		initial = append(initial, c.Name+"="+peer.String())
		configs[i] = c
	}
	shrinkWAL()
	members := make([]*etcdMember, n)
	for i, c := range configs {
		c.InitialCluster = strings.Join(initial, ",")
		member, err := embed.StartEtcd(c)
		if err != nil {
			t.Fatal(err)
		}
		members[i] = &etcdMember{Etcd: member}
		t.Cleanup(members[i].close)
	}
	for _, m := range members {
		select {
		case <-m.Server.ReadyNotify():
		case <-limit(t).Done():
			t.Fatal("the etcd cluster is not ready")
		}
	}
	return members
}

func endpoints(members []*etcdMember) []string {
	var all []string
	for _, m := range members {
		all = append(all, m.Clients[0].Addr().String())
	}
	return all
}

// freeURL gives an address that was free a moment ago: members must know each other's
// before any of them starts.
func freeURL(t *testing.T) url.URL {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() // nothing came through it
	return url.URL{Scheme: "http", Host: listener.Addr().String()}
}

func embedded(t *testing.T, cfg EmbedConfig) *Embedded {
	t.Helper()
	e, err := Embed(limit(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestContractOnTheEmbeddedServer(t *testing.T) {
	t.Parallel()
	e := embedded(t, EmbedConfig{Dir: t.TempDir()})
	t.Run("InProcess", func(t *testing.T) {
		registrytest.Run(t, func(t *testing.T) registrytest.Fixture { return fixture(t, e.Client()) })
	})
}

func TestContractOnAnExternalCluster(t *testing.T) {
	t.Parallel()
	members := external(t, 3)
	client := connect(t, endpoints(members)...)
	t.Run("ThreeMembers", func(t *testing.T) {
		registrytest.Run(t, func(t *testing.T) registrytest.Fixture { return fixture(t, client) })
	})
}

func testMember(role registry.Role, node string) registry.Member {
	return registry.Member{Role: role, Node: node, Incarnation: node + "-1"}
}

func join(t *testing.T, r *Registry, m registry.Member, ttl time.Duration) registry.Session {
	t.Helper()
	s, err := r.Join(limit(t), m, ttl)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// leave ends a session in the test's own time: its server may be gone at cleanup.
func leave(t *testing.T, s registry.Session) {
	t.Helper()
	if err := s.Leave(limit(t)); err != nil {
		t.Error(err)
	}
}

// await takes views until there are n members.
func await(t *testing.T, views <-chan registry.View, n int) registry.View {
	t.Helper()
	end := limit(t)
	got := -1
	for {
		select {
		case v, ok := <-views:
			if !ok {
				t.Fatal("the watch ended")
			}
			if got = len(v.Members); got == n {
				return v
			}
		case <-end.Done():
			t.Fatalf("the list has %d members, want %d", got, n)
		}
	}
}

// Requirement F24: the loss of etcd's leader is nobody's death.
func TestLosingTheLeaderLosesNobody(t *testing.T) {
	t.Parallel()
	members := external(t, 3)
	r := open(t, connect(t, endpoints(members)...), "c")
	const ttl = 6 * time.Second
	var sessions []registry.Session
	for i := range 5 {
		sessions = append(sessions, join(t, r, testMember(registry.Worker, fmt.Sprintf("w%d", i)), ttl))
	}
	views, err := r.Watch(t.Context(), registry.Worker)
	if err != nil {
		t.Fatal(err)
	}
	await(t, views, 5)

	leader := members[0]
	for _, m := range members {
		if m.Server.MemberID() == m.Server.Leader() {
			leader = m
		}
	}
	killed := time.Now()
	leader.Server.HardStop() // no goodbye: the others must notice
	leader.close()
	for _, s := range sessions {
		for !s.LastRenewed().After(killed.Add(time.Second)) {
			select {
			case <-s.Lost():
				t.Fatalf("session lost: %v", s.Err())
			case <-limit(t).Done():
				t.Fatal("not renewed after the leader's end")
			case <-time.After(20 * time.Millisecond): // LastRenewed has no signal
			}
		}
	}
	late := join(t, r, testMember(registry.Worker, "w-late"), ttl)
	// No view is missed here but those that a newer one replaced.
	for n := 0; n != 6; {
		select {
		case v := <-views:
			if n = len(v.Members); n < 5 || v.Wiped {
				t.Fatalf("after the leader's end the list is %+v (wiped %t)", v.Members, v.Wiped)
			}
		case <-limit(t).Done():
			t.Fatal("the new member was not seen")
		}
	}
	for _, s := range append(sessions, late) {
		leave(t, s)
	}
}

func TestSilentServerEndsSessionsInTime(t *testing.T) {
	t.Parallel()
	e := embedded(t, EmbedConfig{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	r := open(t, connect(t, e.Addr()), "c")
	s := join(t, r, testMember(registry.Master, "m1"), 2*time.Second)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Lost():
	case <-limit(t).Done():
		t.Fatal("Lost did not close")
	}
	want := s.TTL() - registry.Margin(s.TTL())
	if ago := time.Since(s.LastRenewed()); ago < want || ago > s.TTL() || !errors.Is(s.Err(), registry.ErrSilent) {
		t.Errorf("lost (%v) %v after the last renewal, want ErrSilent after %v", s.Err(), ago, want)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Leave(ctx); err == nil {
		t.Error("Leave without a server = nil, want the error that says that the lease stays")
	}
}

// Requirement F27: a compaction that runs past a watch is answered by a new list.
func TestWatchSurvivesCompaction(t *testing.T) {
	t.Parallel()
	e := embedded(t, EmbedConfig{Dir: t.TempDir()})
	r := open(t, e.Client(), "c")
	folder := r.dataKey("f") + "/"
	emitted := make(chan int64, 100)
	f := follower{r: r, folder: folder}
	ctx, cancel := context.WithCancel(t.Context())
	first := true
	f.emit = func(kvs []*record, revision int64, _ bool) {
		if first {
			first = false
			// Between the list and the watch, its revision is written over and compacted away.
			for i := range 20 {
				if _, err := r.Put(ctx, "f/a", []byte{byte(i)}, registry.If{}); err != nil {
					t.Error(err)
				}
			}
			now, err := e.Client().Get(ctx, "x")
			if err == nil {
				_, err = e.Client().Compact(ctx, now.Header.Revision)
			}
			if err != nil {
				t.Error(err)
			}
			return
		}
		if len(kvs) == 1 {
			emitted <- int64(kvs[0].Value[0])
		}
	}
	done := make(chan struct{})
	go func() { defer close(done); f.run(ctx) }()
	select {
	case last := <-emitted:
		if last != 19 {
			t.Errorf("after the compaction the value is %d, want the last, 19", last)
		}
	case <-limit(t).Done():
		t.Error("nothing came after the compaction")
	}
	cancel()
	<-done
}

// Requirement F29: what is not of this cluster is never read.
func TestOtherClustersAreNotSeen(t *testing.T) {
	t.Parallel()
	e := embedded(t, EmbedConfig{Dir: t.TempDir()})
	ours, theirs := open(t, e.Client(), "c1"), open(t, e.Client(), "c10")
	s := join(t, theirs, testMember(registry.Master, "m1"), 2*time.Second)
	defer leave(t, s)
	if _, err := theirs.Put(limit(t), "layout", []byte("x"), registry.If{}); err != nil {
		t.Fatal(err)
	}
	views, err := ours.Watch(t.Context(), registry.Master)
	if err != nil {
		t.Fatal(err)
	}
	await(t, views, 0)
	if _, err := ours.Get(limit(t), "layout"); err == nil {
		t.Error("Get saw another cluster's key")
	}
	if _, err := ours.Put(limit(t), "a", nil, registry.If{Bound: s}); err == nil {
		t.Error("Put took another cluster's session")
	}
	if _, err := New(e.Client(), "a/b", nil); err == nil {
		t.Error("a cluster id with a slash was taken")
	}
}

// Requirement F26: a record that somebody deleted makes its process leave.
func TestDeletedRecordIsALostSession(t *testing.T) {
	t.Parallel()
	e := embedded(t, EmbedConfig{Dir: t.TempDir()})
	r := open(t, e.Client(), "c")
	s := join(t, r, testMember(registry.Master, "m1"), 2*time.Second)
	if _, err := e.Client().Delete(limit(t), r.memberKey(registry.Master, "m1")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Lost():
	case <-limit(t).Done():
		t.Fatal("Lost did not close")
	}
	if !errors.Is(s.Err(), registry.ErrSessionLost) {
		t.Errorf("Err = %v, want ErrSessionLost", s.Err())
	}
	leave(t, s)
}
