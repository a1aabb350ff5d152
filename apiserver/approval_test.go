package apiserver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
)

const releaseText = `name: release
params: {version: "7"}
tasks:
  - name: ask
    type: approval
    message: Release ${version}?
    approvers: {users: [cat], roles: [operator]}
    quorum: 2
    not_starter: true
    form: {percent: {type: integer, min: 1, max: 100}}
  - {name: go, type: shell, needs: [ask], script: release "$percent"}
`

// release starts a workflow that asks for approval, and returns the instance's path.
func (b *bench) release() (id, path string) {
	b.t.Helper()
	b.must(201, "PUT", "/api/v1/projects/p", "")
	b.put(201, "p", releaseText, "")
	w := b.must(202, "POST", "/api/v1/projects/p/workflows/release/start", "")
	id = decode[struct {
		InstanceID string `json:"instance_id"`
	}](b.t, w).InstanceID
	b.begin(id)
	return id, "/api/v1/instances/" + id
}

// apply has the instance take the wishes that wait, as its master does.
func (b *bench) apply(id string) {
	b.t.Helper()
	for _, row := range b.wishes(id) {
		b.step(id, dag.Control{ID: row.ID, Verb: row.Verb, Tasks: []int{0}, By: row.By, Decision: dag.Decision{Number: row.Attempt, Reason: row.Reason, Values: row.Values}})
	}
}

func TestPeopleApproveWhatTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id, in := b.release()
	ann := b.person("ann", "p", roleOperator, false)
	cat := b.person("cat", "p", roleViewer, false)
	dan := b.person("dan", "p", roleViewer, false)
	eve := b.person("eve", "", roleNone, false)
	say := func(status int, token, verb, body string) string {
		t.Helper()
		w := b.do(asked{method: "POST", path: in + "/tasks/ask/" + verb, body: body, token: token})
		if w.Code != status {
			t.Errorf("%s %s = %d, want %d: %s", verb, body, w.Code, status, w.Body)
		}
		return w.Body.String()
	}
	waits := func(token string) []Approval {
		t.Helper()
		return decode[List[Approval]](t, b.do(asked{method: "GET", path: "/api/v1/approvals", token: token})).Items
	}
	const ten = `{"values":{"percent":10},"reason":"tested"}`

	mine := waits(ann)
	if len(mine) != 1 || mine[0].Message != "Release 7?" || mine[0].Quorum != 2 || len(mine[0].Form) != 1 || mine[0].Form[0].Name != "percent" || !mine[0].MayDecide {
		t.Fatalf("ann is asked %+v", mine)
	}
	if n := len(waits(dan)) + len(waits(eve)) + len(waits(b.admin)); n != 0 {
		t.Errorf("%d approvals wait for people who may not decide", n)
	}
	if says := say(403, b.admin, "approve", ten); !strings.Contains(says, "started this instance") {
		t.Errorf("the starter is told %s", says)
	}
	say(403, dan, "approve", ten)
	say(404, eve, "approve", ten)
	if says := say(422, ann, "approve", `{"values":{"percent":101,"color":"red"}}`); !strings.Contains(says, "values.percent") || !strings.Contains(says, "values.color") {
		t.Errorf("both mistakes are told at once: %s", says)
	}
	say(422, ann, "approve", "")
	say(409, ann, "approve", `{"attempt":2,"values":{"percent":10}}`)
	if open := b.wishes(id); len(open) != 0 {
		t.Fatalf("refusals wrote %+v", open)
	}

	say(202, ann, "approve", ten)
	say(200, ann, "approve", ten) // her wish still waits for a master
	say(409, ann, "reject", "")
	b.apply(id)
	say(200, ann, "approve", ten)
	if n := len(waits(ann)); n != 0 {
		t.Errorf("%d approvals wait for ann, who has decided", n)
	}
	e := decode[Explanation](t, b.must(200, "GET", in+"/explain?task=ask", ""))
	if e.Text != "ask waits for 1 of 2 approvals: ann has approved" {
		t.Errorf("it waits: %s", e.Text)
	}
	view := decode[InstanceView](t, b.must(200, "GET", in+"/view", ""))
	if len(view.Approvals) != 1 || len(view.Approvals[0].Decisions) != 1 || view.Approvals[0].MayDecide {
		t.Fatalf("the admin sees %+v", view.Approvals)
	}
	if d := view.Approvals[0].Decisions[0]; d.By != "ann" || !d.Approve || d.Reason != "tested" || d.Values["percent"] != "10" || d.At == 0 {
		t.Errorf("the decision is %+v", d)
	}

	say(202, cat, "approve", `{"values":{"percent":25}}`)
	b.apply(id)
	task := decode[List[Task]](t, b.must(200, "GET", in+"/tasks", "")).Items[0]
	if task.State != dag.TaskSuccess || task.Outputs["percent"] != "25" {
		t.Errorf("with both it is %+v", task)
	}
	say(200, cat, "approve", `{"values":{"percent":25}}`)
	say(409, cat, "reject", "")
	events := b.must(200, "GET", in+"/events", "").Body.String()
	for _, want := range []string{`"code":"approved","task":"ask","attempt":1,"round":1,"message":"tested","by":"ann"`, `"by":"cat"`} {
		if !strings.Contains(events, want) {
			t.Errorf("the history lacks %s: %s", want, events)
		}
	}
}

func TestWhoRejectsEndsIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id, in := b.release()
	ann := b.person("ann", "p", roleOperator, false)
	w := b.do(asked{method: "POST", path: in + "/tasks/ask/reject", body: `{"reason":"not today"}`, token: ann})
	if w.Code != 202 {
		t.Fatalf("reject = %d: %s", w.Code, w.Body)
	}
	b.apply(id)
	task := decode[List[Task]](t, b.must(200, "GET", in+"/tasks", "")).Items[0]
	if task.State != dag.TaskFailed || task.Reason != dag.ReasonRejected {
		t.Errorf("it is %+v", task)
	}
	e := fmt.Sprint(decode[Explanation](t, b.must(200, "GET", in+"/explain", "")))
	if !strings.Contains(e, "ask failed because somebody rejected it") || !strings.Contains(e, "not today") {
		t.Errorf("it failed: %s", e)
	}
	b.must(409, "POST", in+"/tasks/go/approve", "")
}
