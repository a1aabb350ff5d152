package sqltest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

func versionsAreSavedByMatch(t *testing.T, b *bench) {
	save := func(name, text string, match *int, publish bool) (sql.Workflow, sql.Version, bool, error) {
		return b.SaveVersion(b.ctx, sql.SaveVersion{ProjectID: b.project.ID, Name: name, Text: text, Format: "yaml", By: "ann", IfMatch: match, Publish: publish})
	}
	w, v, created, err := save("Nightly", "a", nil, true)
	if err != nil || !created || w.Latest != 1 || w.Published != 1 || v.Version != 1 || w.Project != "Sales" {
		t.Fatalf("create: %+v, %+v, %v, %v", w, v, created, err)
	}
	if _, _, _, err := save("NIGHTLY", "b", nil, true); !errors.Is(err, sql.ErrExists) {
		t.Errorf("create again: %v, want ErrExists", err)
	}
	if _, _, _, err := save("Nightly", "b", new(2), true); !errors.Is(err, sql.ErrStale) {
		t.Errorf("save at a version that is not the latest: %v, want ErrStale", err)
	}
	if _, _, _, err := save("Weekly", "b", new(1), true); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("save at a version of nothing: %v, want ErrNotFound", err)
	}
	if w, v, created, err = save("nightly", "b", new(1), false); err != nil || created || v.Version != 2 || w.Latest != 2 || w.Published != 1 || w.Name != "nightly" {
		t.Errorf("save without publishing: %+v, %+v, %v, %v", w, v, created, err)
	}
	if w, v, _, err = save("nightly", "b", new(2), true); err != nil || v.Version != 2 || w.Latest != 2 || w.Published != 2 {
		t.Errorf("the same content, published: %+v, %+v, %v", w, v, err)
	}
	if w, v, _, err = save("nightly", "b", new(sql.AnyVersion), true); err != nil || v.Version != 2 {
		t.Errorf("the same content: %+v, %v", v, err)
	}
	if _, v, _, err = save("nightly", "c", new(sql.AnyVersion), true); err != nil || v.Version != 3 {
		t.Errorf("overwrite on purpose: %+v, %v", v, err)
	}
	if _, _, created, err = save("Monthly", "x", new(sql.AnyVersion), true); err != nil || !created {
		t.Errorf("overwrite what is not there: %v, %v", created, err)
	}
	b.must(b.Publish(b.ctx, w.ID, 1, "ann"))
	got, err := b.Workflow(b.ctx, b.project.ID, "NightLy")
	b.must(err)
	if got.Published != 1 || got.Latest != 3 || got.ID != w.ID {
		t.Errorf("workflow %+v", got)
	}
	if err := b.Publish(b.ctx, w.ID, 9, "ann"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("publish what is not there: %v, want ErrNotFound", err)
	}
	old, err := b.Version(b.ctx, w.ID, 1)
	b.must(err)
	if old.Text != "a" || old.Format != "yaml" || len(old.Hash) != 64 || old.CreatedBy != "ann" {
		t.Errorf("version 1 is %+v", old)
	}
	list, next, err := b.Versions(b.ctx, w.ID, sql.Page{Limit: 2})
	b.must(err)
	if len(list) != 2 || list[0].Version != 3 || next == "" {
		t.Fatalf("versions %+v, next %q", list, next)
	}
	list, next, err = b.Versions(b.ctx, w.ID, sql.Page{Cursor: next})
	b.must(err)
	if len(list) != 1 || list[0].Version != 1 || next != "" {
		t.Errorf("versions behind %+v, next %q", list, next)
	}
}

func firstSavesOfOneNameMakeOneWorkflow(t *testing.T, b *bench) {
	stores := []*sql.Store{b.Store, b.open(t, t.Name())}
	var created [8]bool
	race(len(created), func(i int) {
		_, _, made, err := stores[i%2].SaveVersion(b.ctx, sql.SaveVersion{ProjectID: b.project.ID, Name: "Straße", Text: fmt.Sprint(i), Format: "yaml"})
		if created[i] = made && err == nil; err != nil && !errors.Is(err, sql.ErrExists) {
			t.Error(err)
		}
	})
	n := 0
	for _, c := range created {
		if c {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d of %d made the workflow", n, len(created))
	}
	w, err := b.Workflow(b.ctx, b.project.ID, "STRASSE")
	b.must(err)
	if w.Name != "Straße" || w.Latest != 1 {
		t.Errorf("workflow %+v", w)
	}
}

func textsStayByteForByte(t *testing.T, b *bench) {
	text := "x: '\"\\ \r\n\t\U0001F42C`$%_--;\x7f é e\u0301'\n" + strings.Repeat("a\\'b", 1<<20/4)
	w, _, _, err := b.SaveVersion(b.ctx, sql.SaveVersion{ProjectID: b.project.ID, Name: "Bytes", Text: text, Format: "yaml"})
	b.must(err)
	_, _, _, err = b.SaveDraft(b.ctx, sql.SaveDraft{ProjectID: b.project.ID, Name: "Bytes", Text: text, Format: "yaml", By: "ann"})
	b.must(err)
	for name, s := range map[string]*sql.Store{"same": b.Store, "other": b.open(t, t.Name())} {
		v, err := s.Version(b.ctx, w.ID, 1)
		b.must(err)
		d, err := s.Draft(b.ctx, w.ID)
		b.must(err)
		if v.Text != text || d.Text != text {
			t.Errorf("the %s store gives another text: %d and %d bytes of %d", name, len(v.Text), len(d.Text), len(text))
		}
	}
	if _, err := b.Cases(b.ctx, w.ID); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("test cases before any: %v, want ErrNotFound", err)
	}
	for seen, text := range []string{"one", "two"} {
		if c, err := b.PutCases(b.ctx, sql.Cases{WorkflowID: w.ID, Text: text, UpdatedBy: "ann"}, int64(seen)); err != nil || c.Revision != int64(seen)+1 {
			t.Errorf("keep test cases: %+v, %v", c, err)
		}
	}
	if _, err := b.PutCases(b.ctx, sql.Cases{WorkflowID: w.ID, Text: "late"}, 1); !errors.Is(err, sql.ErrStale) {
		t.Errorf("keep test cases late: %v, want ErrStale", err)
	}
	if c, err := b.Cases(b.ctx, w.ID); err != nil || c.Text != "two" || c.UpdatedBy != "ann" {
		t.Errorf("test cases %+v, %v", c, err)
	}
	b.must(b.PutLayout(b.ctx, sql.Layout{WorkflowID: w.ID, Layout: `{"a":[1,2]}`}))
	b.must(b.PutLayout(b.ctx, sql.Layout{WorkflowID: w.ID, Layout: `{"a":[3,4]}`}))
	if l, err := b.Layout(b.ctx, w.ID); err != nil || l.Layout != `{"a":[3,4]}` {
		t.Errorf("layout %+v, %v", l, err)
	}
}

func draftsAreKeptByRevision(t *testing.T, b *bench) {
	save := func(name, text string, base int, match *int64) (sql.Workflow, sql.Draft, bool, error) {
		return b.SaveDraft(b.ctx, sql.SaveDraft{ProjectID: b.project.ID, Name: name, Text: text, Format: "yaml", By: "ann", BaseVersion: base, IfMatch: match})
	}
	w, d, created, err := save("Drafted", "a", sql.KeepBase, nil)
	if err != nil || !created || w.Latest != 0 || w.DraftRevision != d.Revision || d.BaseVersion != 0 || d.Revision == 0 {
		t.Fatalf("a draft of nothing: %+v, %+v, %v, %v", w, d, created, err)
	}
	first := d.Revision
	if _, _, _, err := save("drafted", "b", 0, nil); !errors.Is(err, sql.ErrExists) {
		t.Errorf("without a revision: %v, want ErrExists", err)
	}
	if _, _, _, err := save("Drafted", "b", 1, &first); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a base that is no version: %v, want ErrNotFound", err)
	}
	if _, d, created, err = save("Drafted", "b", 0, &first); err != nil || created || d.Revision <= first {
		t.Errorf("at its revision: %+v, %v, %v", d, created, err)
	}
	if _, _, _, err := save("Drafted", "c", 0, &first); !errors.Is(err, sql.ErrStale) {
		t.Errorf("at an older revision: %v, want ErrStale", err)
	}
	// A version takes with it the revision that it came from, and only that one.
	version := func(text string, match *int, draft int64) sql.Workflow {
		w, _, _, err := b.SaveVersion(b.ctx, sql.SaveVersion{
			ProjectID: b.project.ID, Name: "Drafted", Text: text, Format: "yaml", By: "bob", IfMatch: match, Publish: true, Message: "for " + text, Draft: draft,
		})
		b.must(err)
		return w
	}
	if w = version("v1", nil, first); w.Latest != 1 || w.DraftRevision != d.Revision {
		t.Errorf("a version of an older revision leaves %+v", w)
	}
	if w = version("v2", new(1), d.Revision); w.DraftRevision != 0 || w.ChangedBy != "bob" {
		t.Errorf("a version of the draft leaves %+v", w)
	}
	if _, err := b.Draft(b.ctx, w.ID); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("the draft after its version: %v, want ErrNotFound", err)
	}
	if v, err := b.Version(b.ctx, w.ID, 2); err != nil || v.Message != "for v2" {
		t.Errorf("version %+v, %v", v, err)
	}
	// The text of an older version makes a new one: only the latest is compared.
	if w = version("v1", new(2), 0); w.Latest != 3 {
		t.Errorf("the first text again: %+v", w)
	}
	last := d.Revision
	if _, _, _, err := save("Drafted", "d", sql.KeepBase, &last); !errors.Is(err, sql.ErrStale) {
		t.Errorf("at a revision that is gone: %v, want ErrStale", err)
	}
	if _, d, _, err = save("Drafted", "d", sql.KeepBase, nil); err != nil || d.Revision <= last || d.BaseVersion != 3 {
		t.Errorf("a draft after one: %+v, %v", d, err)
	}
	if _, d, _, err = save("Drafted", "e", 1, new(int64(sql.AnyRevision))); err != nil || d.BaseVersion != 1 {
		t.Errorf("over whatever there is: %+v, %v", d, err)
	}
	if _, d, _, err = save("Drafted", "f", sql.KeepBase, &d.Revision); err != nil || d.BaseVersion != 1 {
		t.Errorf("the base is kept: %+v, %v", d, err)
	}
	got, err := b.Draft(b.ctx, w.ID)
	b.must(err)
	if got.Text != "f" || got.Revision != d.Revision || got.BaseVersion != 1 || got.UpdatedBy != "ann" || got.UpdatedAt == 0 {
		t.Errorf("draft %+v", got)
	}
	draftsAreThrownAwayByRevision(t, b, w, d)
}

func draftsAreThrownAwayByRevision(t *testing.T, b *bench, w sql.Workflow, d sql.Draft) {
	drop := func(id, revision int64) error {
		return b.DeleteDraft(b.ctx, sql.DeleteDraft{WorkflowID: id, IfMatch: revision, By: "cid"})
	}
	if err := drop(w.ID, d.Revision-1); !errors.Is(err, sql.ErrStale) {
		t.Errorf("throw away an older revision: %v, want ErrStale", err)
	}
	b.must(drop(w.ID, d.Revision))
	if w, err := b.WorkflowByID(b.ctx, w.ID); err != nil || w.DraftRevision != 0 || w.ChangedBy != "cid" || w.Latest != 3 {
		t.Errorf("the workflow stays: %+v, %v", w, err)
	}
	if err := drop(w.ID, sql.AnyRevision); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("throw away nothing: %v, want ErrNotFound", err)
	}
	// A workflow that was nothing but its draft goes with it, and its name is free.
	only, _, _, err := b.SaveDraft(b.ctx, sql.SaveDraft{ProjectID: b.project.ID, Name: "Only", Text: "x", Format: "yaml"})
	b.must(err)
	b.must(drop(only.ID, sql.AnyRevision))
	if _, err := b.Workflow(b.ctx, b.project.ID, "Only"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a workflow without versions and draft: %v, want ErrNotFound", err)
	}
	if _, _, created, err := b.SaveDraft(b.ctx, sql.SaveDraft{ProjectID: b.project.ID, Name: "ONLY", Text: "y", Format: "yaml"}); err != nil || !created {
		t.Errorf("the name is not free: %v, %v", created, err)
	}
}

func oneOfManyKeepsTheFirstDraft(t *testing.T, b *bench) {
	stores := []*sql.Store{b.Store, b.open(t, t.Name())}
	var kept [8]bool
	race(len(kept), func(i int) {
		_, _, _, err := stores[i%2].SaveDraft(b.ctx, sql.SaveDraft{ProjectID: b.project.ID, Name: "Raced", Text: fmt.Sprint(i), Format: "yaml"})
		if kept[i] = err == nil; err != nil && !errors.Is(err, sql.ErrExists) {
			t.Error(err)
		}
	})
	n := 0
	for _, k := range kept {
		if k {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d of %d kept the first draft", n, len(kept))
	}
}

func whatIsInUseIsNotDeleted(t *testing.T, b *bench) {
	o := b.take("m1:a")
	var use *sql.InUseError
	if err := b.DeleteWorkflow(b.ctx, b.workflow.ID); !errors.As(err, &use) || !errors.Is(err, sql.ErrInUse) || use.References[0] != fmt.Sprint("instance ", o.ID) {
		t.Errorf("delete a workflow that runs: %v", err)
	}
	end := b.step(o, 0, dag.TaskSuccess)
	o.State, end.Release = dag.InstanceSuccess, true
	b.must(b.commit(end))
	if err := b.DeleteProject(b.ctx, b.project.ID); !errors.As(err, &use) || use.References[0] != "workflow Daily" {
		t.Errorf("delete a project with a workflow: %v", err)
	}
	b.must(b.DeleteWorkflow(b.ctx, b.workflow.ID))
	if _, err := b.Workflow(b.ctx, b.project.ID, "Daily"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("deleted workflow: %v, want ErrNotFound", err)
	}
	// Its history stays readable, and its name is free.
	if in, err := b.Instance(b.ctx, o.ID); err != nil || in.Workflow != "Daily" {
		t.Errorf("instance of the deleted workflow: %+v, %v", in, err)
	}
	if _, err := b.Version(b.ctx, b.workflow.ID, 1); err != nil {
		t.Errorf("version of the deleted workflow: %v", err)
	}
	w, _, created, err := b.SaveVersion(b.ctx, sql.SaveVersion{ProjectID: b.project.ID, Name: "daily", Text: "n", Format: "yaml"})
	if err != nil || !created || w.ID == b.workflow.ID {
		t.Errorf("save under the free name: %+v, %v, %v", w, created, err)
	}
	b.must(b.DeleteWorkflow(b.ctx, w.ID))
	b.must(b.DeleteProject(b.ctx, b.project.ID))
	if err := b.DeleteProject(b.ctx, b.project.ID); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("delete twice: %v, want ErrNotFound", err)
	}
	if _, err := b.CreateProject(b.ctx, sql.Project{Name: "SALES"}); err != nil {
		t.Errorf("the project's name is not free: %v", err)
	}
}

func projectsAreListedByName(t *testing.T, b *bench) {
	if _, err := b.CreateProject(b.ctx, sql.Project{Name: "sALES"}); !errors.Is(err, sql.ErrExists) {
		t.Errorf("another case of a name: %v, want ErrExists", err)
	}
	for _, n := range []string{"zoo", "Ämter", "ops", "Z-2"} {
		_, err := b.CreateProject(b.ctx, sql.Project{Name: n})
		b.must(err)
	}
	p, err := b.UpdateProject(b.ctx, sql.Project{ID: b.project.ID, Name: "Trade", Description: "d"})
	if err != nil || p.Name != "Trade" || p.Description != "d" || p.CreatedAt == 0 {
		t.Errorf("renamed to %+v, %v", p, err)
	}
	if _, err := b.UpdateProject(b.ctx, sql.Project{ID: b.project.ID, Name: "ZOO"}); !errors.Is(err, sql.ErrExists) {
		t.Errorf("rename onto another: %v, want ErrExists", err)
	}
	var names []string
	for page := (sql.Page{Limit: 2}); ; {
		list, next, err := b.Projects(b.ctx, page)
		b.must(err)
		for _, p := range list {
			names = append(names, p.Name)
		}
		if page.Cursor = next; next == "" {
			break
		}
	}
	if got, want := strings.Join(names, " "), "ops Trade Z-2 zoo Ämter"; got != want {
		t.Errorf("projects %q, want %q", got, want)
	}
	if p, err := b.Project(b.ctx, "a\u0308MTER"); err != nil || p.Name != "Ämter" {
		t.Errorf("by another form of the name: %+v, %v", p, err)
	}
}
