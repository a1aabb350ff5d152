package apiserver

import (
	"strings"
	"testing"
)

const (
	alphaDraft = "/api/v1/projects/alpha/workflows/daily/draft"
	brokenText = "name: daily\ntasks: [\n"
	yamlType   = "application/yaml"
)

func TestDraftsOfTwoPeopleNeverOverwriteEachOther(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	ann, bob := b.person("ann", "alpha", roleEditor, false), b.person("bob", "alpha", roleEditor, false)
	put := func(token, text, match, query string) (int, Draft, Problem) {
		w := b.do(asked{method: "PUT", path: alphaDraft + query, body: text, token: token, header: map[string]string{"Content-Type": yamlType, "If-Match": match}})
		if w.Code >= 400 {
			return w.Code, Draft{}, decode[Problem](t, w)
		}
		d := decode[Draft](t, w)
		if w.Header().Get("ETag") != revisionTag(d.Revision) {
			t.Errorf("ETag %s of revision %d", w.Header().Get("ETag"), d.Revision)
		}
		return w.Code, d, Problem{}
	}
	code, first, _ := put(ann, brokenText, "", "?base_version=1")
	if code != 201 || first.BaseVersion != 1 || first.UpdatedBy != "ann" {
		t.Fatalf("first = %d %+v", code, first)
	}
	if code, _, p := put(bob, "mine", "", ""); code != 428 || p.Errors[0].Args["by"] != "ann" || p.Errors[0].Args["revision"] != float64(first.Revision) {
		t.Errorf("without If-Match = %d %+v", code, p)
	}
	code, second, _ := put(bob, "mine", revisionTag(first.Revision), "")
	if code != 200 || second.Revision <= first.Revision || second.BaseVersion != 1 {
		t.Errorf("with If-Match = %d %+v", code, second)
	}
	code, _, p := put(ann, "hers", revisionTag(first.Revision), "")
	if e := p.Errors; code != 412 || len(e) != 1 || e[0].Code != "stale" || e[0].Args["by"] != "bob" || e[0].Args["at"] == nil || e[0].Args["revision"] != float64(second.Revision) {
		t.Errorf("stale = %d %+v", code, p)
	}
	if got := decode[Draft](t, b.must(200, "GET", alphaDraft, "")); got.Text != "mine" {
		t.Errorf("the draft is %+v", got)
	}
	if code, d, _ := put(ann, "hers", "*", ""); code != 200 || d.UpdatedBy != "ann" {
		t.Errorf("over whatever there is = %d", code)
	}
	if w := decode[Workflow](t, b.must(200, "GET", strings.TrimSuffix(alphaDraft, "/draft"), "")); w.Draft == 0 || w.Latest != 1 {
		t.Errorf("workflow %+v", w)
	}
	b.must(428, "DELETE", alphaDraft, "")
	b.must(412, "DELETE", alphaDraft, "", "If-Match", revisionTag(second.Revision))
	b.must(204, "DELETE", alphaDraft, "", "If-Match", "*")
	if code, _, p := put(bob, "late", revisionTag(second.Revision), ""); code != 412 || p.Errors[0].Code != "gone" {
		t.Errorf("a draft that is gone = %d %+v", code, p)
	}
	b.must(404, "GET", alphaDraft, "")
}

func TestNewWorkflowBeginsAsADraft(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	const one = "/api/v1/projects/alpha/workflows/fresh"
	w := b.must(201, "PUT", one+"/draft", brokenText, "Content-Type", yamlType)
	revision := w.Header().Get("ETag")
	got := b.must(200, "GET", one, "")
	if text := decode[WorkflowText](t, got); text.Latest != 0 || text.Text != "" || text.Draft == 0 || got.Header().Get("ETag") != `"0"` {
		t.Errorf("workflow %+v, ETag %s", text, got.Header().Get("ETag"))
	}
	if list := decode[List[Workflow]](t, b.must(200, "GET", "/api/v1/projects/alpha/workflows", "")); len(list.Items) != 2 || list.Items[1].Latest != 0 {
		t.Errorf("list %+v", list)
	}
	if list := decode[List[Version]](t, b.must(200, "GET", one+"/versions", "")); len(list.Items) != 0 {
		t.Errorf("versions %+v", list)
	}
	b.must(404, "GET", one+"/versions/1", "")
	b.must(404, "GET", one+"/versions/1/graph", "")
	b.must(200, "GET", one+"/layout", "")
	b.must(200, "GET", "/api/v1/instances?project=alpha&workflow=fresh", "")
	if p := decode[Problem](t, b.must(409, "POST", one+"/start", "")); p.Errors[0].Code != "not_published" || !strings.Contains(p.Detail, "only a draft") {
		t.Errorf("start says %+v", p)
	}
	b.must(422, "POST", one+"/start", `{"version":1}`)
	b.must(422, "POST", one+"/publish", `{"version":1}`)
	b.must(409, "PUT", "/api/v1/projects/alpha/workflows/FRESH/draft", "x", "Content-Type", yamlType)
	// Its first version is a creation, with or without If-Match, and takes the draft along.
	text := strings.ReplaceAll(twoTasks, "daily", "fresh")
	saved := decode[struct {
		Version int   `json:"version"`
		Removed bool  `json:"draft_removed"`
		Draft   int64 `json:"draft_revision"`
	}](t, b.must(201, "PUT", one+"?draft="+strings.Trim(revision, `"`), text, "Content-Type", yamlType, "If-Match", `"0"`))
	if saved.Version != 1 || !saved.Removed || saved.Draft != 0 {
		t.Errorf("saved %+v", saved)
	}
	b.must(404, "GET", one+"/draft", "")

	b.must(201, "PUT", one+"2/draft", "x", "Content-Type", yamlType)
	b.must(201, "PUT", one+"2", strings.ReplaceAll(text, "fresh", "fresh2"), "Content-Type", yamlType)
	if d := decode[Draft](t, b.must(200, "GET", one+"2/draft", "")); d.Text != "x" {
		t.Errorf("a version of elsewhere took the draft: %+v", d)
	}
	// Nothing is left of a workflow that never was more than its draft.
	b.must(201, "PUT", one+"3/draft", "x", "Content-Type", yamlType)
	b.must(204, "DELETE", one+"3/draft", "", "If-Match", "*")
	b.must(404, "GET", one+"3", "")
}

func TestOlderVersionIsRestoredAsANewOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.seed("alpha")
	const one = "/api/v1/projects/alpha/workflows/daily"
	put := func(text, match, query string) int {
		return decode[struct {
			Version int `json:"version"`
		}](t, b.must(201, "PUT", one+query, text, "Content-Type", yamlType, "If-Match", match)).Version
	}
	if v := put(twoTasks+"  - {name: c, type: noop}\n", `"1"`, "?message=adds+c"); v != 2 {
		t.Errorf("version %d", v)
	}
	if v := put(twoTasks, `"2"`, ""); v != 3 {
		t.Errorf("the first text again is version %d", v)
	}
	if w := b.must(200, "PUT", one, twoTasks, "Content-Type", yamlType, "If-Match", `"3"`); !strings.Contains(w.Body.String(), `"created":false`) {
		t.Errorf("the newest text again: %s", w.Body)
	}
	b.must(412, "POST", one+"/versions/2/restore", "", "If-Match", `"2"`)
	w := b.must(201, "POST", one+"/versions/2/restore", `{"message":"back to v2"}`, "If-Match", `"3"`)
	if w.Header().Get("ETag") != `"4"` {
		t.Errorf("restored as %s", w.Header().Get("ETag"))
	}
	list := decode[List[Version]](t, b.must(200, "GET", one+"/versions", "")).Items
	if len(list) != 4 || list[0].Message != "back to v2" || !list[0].Published || list[1].Message != "" || list[2].Message != "adds c" || list[0].Hash != list[2].Hash {
		t.Errorf("versions %+v", list)
	}
	b.must(200, "POST", one+"/versions/4/restore", "")
	b.must(404, "POST", one+"/versions/9/restore", "")
	if w := b.must(201, "POST", one+"/versions/1/restore?publish=false", ""); !strings.Contains(w.Body.String(), `"published":4`) {
		t.Errorf("restored without publishing: %s", w.Body)
	}
}
