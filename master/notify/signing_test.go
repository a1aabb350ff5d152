package notify_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/listen"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/internal/webhook"
	"github.com/porpoise/porpoise/master/notify"
	"github.com/porpoise/porpoise/sql"
)

func TestCallsAreSigned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.listener("ops", listen.Filter{})
	b.run()
	b.turn(b.notifier())
	calls := b.heard()
	if len(calls) != 1 {
		t.Fatalf("%d calls, want 1", len(calls))
	}
	c := calls[0]
	stamp := c.header.Get(webhook.TimestampHeader)
	if got, want := c.header.Get(webhook.SignatureHeader), webhook.Sign([]byte("shared secret"), stamp, c.body); got != want {
		t.Errorf("signature %q, want %q", got, want)
	}
	if want := fmt.Sprint(b.now().Unix()); stamp != want {
		t.Errorf("timestamp %q, want %q", stamp, want)
	}
	if c.Listener != "ops" {
		t.Errorf("listener %q", c.Listener)
	}
}

// TestCallsAreSignedByANamedSecretAsItIsNow changes, deletes and makes again what a listener names.
func TestCallsAreSignedByANamedSecretAsItIsNow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	keys, err := rpc.EnsureKeyring(filepath.Join(t.TempDir(), "secret-key"))
	b.must(err)
	put := func(value string) {
		s := sql.Secret{ProjectID: b.project.ID, Name: "hook", UpdatedBy: "ann"}
		s.KeyID, s.Sealed, err = keys.Seal([]byte(value), s.About())
		b.must(err)
		_, err = b.PutSecret(t.Context(), s)
		b.must(err)
	}
	put("first value")
	n := b.notifier(func(c *notify.Config) { c.Keys = keys })
	in := b.run(func(st *sql.Start) {
		st.Reply = &sql.Reply{URL: b.server.URL + "/r", Secret: []byte("${secret.hook}"), Receiver: b.server.URL}
	})
	b.turn(b.notifier())
	if calls := b.heard(); len(calls) > 0 {
		t.Errorf("a master without keys has told %v, unsigned", ids(calls))
	}
	signed := func(value string) {
		t.Helper()
		b.pass(time.Hour)
		b.turn(n)
		calls := b.heard()
		if len(calls) != 1 {
			t.Fatalf("%d calls, want 1", len(calls))
		}
		c := calls[0]
		if want := webhook.Sign([]byte(value), c.header.Get(webhook.TimestampHeader), c.body); c.header.Get(webhook.SignatureHeader) != want {
			t.Errorf("the call of %s is not signed by %q", c.ID, value)
		}
	}
	signed("first value")
	put("second value")
	b.events(in, instance(dag.InstanceRunning))
	signed("second value")
	b.must(b.DeleteSecret(t.Context(), b.project.ID, "hook"))
	b.events(in, instance(dag.InstanceFailed))
	b.turn(n)
	d, err := b.Delivery(t.Context(), in.ID, in.ID)
	b.must(err)
	if len(b.heard()) > 0 || d.Attempts != 1 || !strings.Contains(d.Error, `no secret "hook"`) {
		t.Errorf("without the secret: %+v", d)
	}
	put("third value")
	signed("third value")
}
