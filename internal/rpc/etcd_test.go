package rpc

import (
	"context"
	"crypto/tls"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/registry/etcd"
)

// The embedded registry's door takes the cluster's certificates and nothing else.
func TestEmbeddedRegistryServesNodesOfTheClusterOnly(t *testing.T) {
	t.Parallel()
	ca := testCA(t, testCluster)
	master := certificate(t, ca, registry.Master, "m1")
	worker := certificate(t, ca, registry.Worker, "w1")
	if _, err := etcd.Embed(deadline(t), etcd.EmbedConfig{Dir: t.TempDir(), Listen: "127.0.0.1:0", TLS: master.ServerTLS()}); err == nil {
		t.Error("a door that is open without a certificate was made")
	}
	e, err := etcd.Embed(deadline(t), etcd.EmbedConfig{Dir: t.TempDir(), Listen: "0.0.0.0:0", TLS: master.StrictServerTLS()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	stranger := certificate(t, testCA(t, testCluster), registry.Worker, "w1")
	for name, c := range map[string]struct {
		secure *tls.Config
		in     bool
	}{
		"worker":              {worker.ClientTLS(registry.Master), true},
		"plain text":          {nil, false},
		"no certificate":      {&tls.Config{InsecureSkipVerify: true}, false}, //nolint:gosec // the attacker doesn't care
		"another's":           {stranger.ClientTLS(registry.Master), false},
		"TLS 1.2":             {&tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, Certificates: worker.ClientTLS().Certificates}, false}, //nolint:gosec // the attacker doesn't care
		"looking for workers": {worker.ClientTLS(registry.Worker), false},
	} {
		client, err := etcd.Dial(t.Context(), etcd.ClientConfig{Endpoints: []string{e.Addr()}, TLS: c.secure})
		if err != nil {
			t.Fatal(err)
		}
		wait := 10 * time.Second
		if !c.in {
			wait = 300 * time.Millisecond // etcd's client tries for as long as it may
		}
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		if _, err := client.Put(ctx, "/"+name, "x"); (err == nil) != c.in {
			t.Errorf("Put with %s = %v", name, err)
		}
		cancel()
		client.Close() // a test's client
	}
	got, err := e.Client().Get(deadline(t), "/", clientv3.WithPrefix())
	if err != nil || len(got.Kvs) != 1 {
		t.Errorf("the registry holds %v, %v, want the worker's key alone", got, err)
	}
}
