package site

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// own is a site whose parts a test starts one by one.
type own struct {
	*testing.T
	ctx      context.Context //nolint:containedctx // of the test that it is
	site     *Site
	etcd     string // the program
	database string
	started  int
}

func newOwn(ctx context.Context, t *testing.T) *own {
	t.Helper()
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	o := &own{T: t, ctx: ctx, site: s, database: "sqlite:" + filepath.Join(s.Dir, "shared.db")}
	if o.etcd, err = Build(ctx, "bench/etcd", s.Dir); err != nil {
		t.Fatal(err)
	}
	return o
}

// free is an address that nothing listens on.
func (o *own) free() string {
	o.Helper()
	address, err := FreeAddress(o.ctx)
	if err != nil {
		o.Fatal(err)
	}
	return address
}

// registry starts an etcd at an address and waits until it serves.
func (o *own) registry(name, address string) *Part {
	o.Helper()
	file := filepath.Join(o.site.Dir, name+"-address")
	p := o.launch(name, o.etcd, "-dir", o.dir(name), "-listen", address, "-address-file", file)
	if err := o.site.Until(o.ctx, name+" serves", func() error { _, err := os.Stat(file); return err }); err != nil {
		o.Fatal(err)
	}
	return p
}

func (o *own) dir(name string) string { return filepath.Join(o.site.Dir, name+"-data") }

// migrate makes the schema and the cluster's key.
func (o *own) migrate() {
	o.Helper()
	if code, _, errs := finish(o.T, porpoise(o.ctx, o.site, "migrate", "--database", o.database, "--cluster-key", o.key(), "--data", o.dir("migrate"))); code != 0 {
		o.Fatalf("migrate = %d\n%s", code, errs)
	}
}

func (o *own) key() string { return filepath.Join(o.site.Dir, "cluster.key") }

// launch starts a process with a log of its own.
func (o *own) launch(name, program string, args ...string) *Part {
	o.Helper()
	o.started++
	p, err := o.site.Launch(o.ctx, fmt.Sprintf("%s-%d", name, o.started), Program{Path: program, Args: args})
	if err != nil {
		o.Fatal(err)
	}
	return p
}

// role starts a master or an apiserver beside an etcd.
func (o *own) role(role, name, etcd string, more ...string) *Part {
	o.Helper()
	args := []string{role, "--data", o.dir(name), "--database", o.database, "--cluster-key", o.key(), "--etcd", etcd, "--rpc", "127.0.0.1:0"}
	return o.launch(name, binary, append(args, more...)...)
}

// says waits until a part's log has a text.
func (o *own) says(p *Part, text string) {
	o.Helper()
	err := o.site.Until(o.ctx, p.Name+" says "+text, func() error {
		if strings.Contains(p.Log(), text) {
			return nil
		}
		if p.Ended() {
			o.Fatalf("%s has ended before it said %q:\n%s", p.Name, text, p.Tail())
		}
		return fmt.Errorf("it says:\n%s", p.Tail())
	})
	if err != nil {
		o.Fatal(err)
	}
}

// refused waits for the end of a part that must not start, and for what it says.
func (o *own) refused(p *Part, texts ...string) {
	o.Helper()
	if err := p.Wait(o.ctx); err == nil || o.ctx.Err() != nil {
		o.Fatalf("%s was not refused: %v", p.Name, err)
	}
	for _, text := range texts {
		if !strings.Contains(p.Log(), text) {
			o.Errorf("%s was refused without %q:\n%s", p.Name, text, p.Tail())
		}
	}
	o.forget(p)
}

// ends stops a part.
func (o *own) ends(p *Part) {
	o.Helper()
	if err := p.Stop(); err != nil {
		o.Error(err)
	}
	o.forget(p)
}

// forget leaves a part that has ended out of what the end of the site stops.
func (o *own) forget(p *Part) {
	for i, other := range o.site.Parts {
		if other == p {
			o.site.Parts = append(o.site.Parts[:i], o.site.Parts[i+1:]...)
			return
		}
	}
}

const foreign = "the registry is not the one of this database"

// Requirement F70: two clusters on one database.
func TestADatabaseHasOneRegistry(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute) // processes look for life five times, eight seconds each
	defer cancel()
	o := newOwn(ctx, t)
	one, two := o.free(), o.free()
	etcd := o.registry("etcd-1", one)
	o.registry("etcd-2", two)
	o.migrate()
	m := o.role("master", "m1", one)
	o.says(m, "master is ready")

	// A second etcd, empty: to its master it looks like the cluster's own after a wipe.
	m2, a2 := o.role("master", "m2", two), o.role("apiserver", "a2", two, "--http", "127.0.0.1:0")
	o.refused(m2, foreign, "processes live", "forget-registry")
	o.refused(a2, foreign)
	if code, _, errs := finish(t, porpoise(o.ctx, o.site, "forget-registry", "--database", o.database)); code != 4 {
		t.Errorf("forget-registry while a master lives = %d, want 4\n%s", code, errs)
	}

	// Everything down and the cluster's etcd lost: it comes back by itself.
	m.Kill()
	etcd.Kill()
	o.forget(m)
	o.forget(etcd)
	if err := os.RemoveAll(o.dir("etcd-1")); err != nil {
		t.Fatal(err)
	}
	o.registry("etcd-1", one)
	m = o.role("master", "m1", one)
	o.says(m, "master is ready")
	o.ends(m)

	// The cluster moves to the other etcd, and the first one is refused from then on.
	m = o.role("master", "m2", two)
	o.says(m, "master is ready")
	o.refused(o.role("master", "m1", one), foreign, "belongs to registry", "this one is")
	o.ends(m)
	if code, _, errs := finish(t, porpoise(o.ctx, o.site, "forget-registry", "--database", o.database)); code != 0 {
		t.Errorf("forget-registry = %d\n%s", code, errs)
	}
	m = o.role("master", "m1", one)
	o.says(m, "master is ready")
}

// An embedded registry and an etcd beside one database are two registries, too.
func TestAMasterBesideAStandaloneNodeNeedsItsRegistry(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	o := newOwn(ctx, t)
	s := standalone(ctx, t)
	data := filepath.Join(s.Dir, "standalone")
	elsewhere := o.free()
	o.registry("etcd", elsewhere)
	p := o.launch("m1", binary, "master", "--data", o.dir("m1"), "--database", "sqlite:"+filepath.Join(data, "porpoise.db"),
		"--cluster-key", filepath.Join(data, "cluster.key"), "--etcd", elsewhere, "--rpc", "127.0.0.1:0")
	o.refused(p, foreign)
	if err := s.Client.Ready(ctx); err != nil {
		t.Errorf("the node is not ready: %v", err)
	}
}
