package interval

import (
	"fmt"
	"strconv"

	"github.com/porpoise/porpoise/dag/document"
)

// The limits of a tree.
const (
	MaxItems = 500 // DolphinScheduler's users have up to some dozens
	MaxDepth = 8   // there it is 2
)

// Tree is what a dependent task asks for: either one item, or a group of which all or any
// must succeed.
type Tree struct {
	Item *Item
	All  []Tree
	Any  []Tree
}

// Items returns the items of a tree from left to right; findings are given to Decide in
// this order.
func (t *Tree) Items() []Item {
	var items []Item
	t.each(func(item *Item) { items = append(items, *item) })
	return items
}

func (t *Tree) each(visit func(*Item)) {
	if t.Item != nil {
		visit(t.Item)
		return
	}
	for _, group := range [][]Tree{t.All, t.Any} {
		for i := range group {
			group[i].each(visit)
		}
	}
}

// Validate returns what is wrong with a tree that stands at a field: nodes that are none or
// two things at once, empty groups, items without a name or with an unknown date, and too
// many or too deep ones. It does not know which projects, workflows and tasks exist.
func (t *Tree) Validate(at *document.Path) []document.FieldError {
	v := validation{}
	v.tree(t, at, 1)
	if v.items > MaxItems {
		v.fail(at, document.CodeTooLarge, fmt.Sprintf("the check has %d items, at most %d are allowed", v.items, MaxItems), "")
	}
	return v.errs
}

type validation struct {
	items int
	errs  []document.FieldError
}

func (v *validation) fail(at *document.Path, code, message, value string) {
	v.errs = append(v.errs, document.FieldError{Field: at.String(), Code: code, Message: message, Value: document.Shown(value)})
}

func (v *validation) tree(t *Tree, at *document.Path, depth int) {
	kinds := 0
	for _, is := range []bool{t.Item != nil, t.All != nil, t.Any != nil} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		v.fail(at, document.CodeInvalid, `want either "all", or "any", or one item with project, workflow, task and date`, "")
	case t.Item != nil:
		v.item(t.Item, at)
	case depth > MaxDepth:
		v.fail(at, document.CodeTooDeep, fmt.Sprintf("groups are nested deeper than %d levels", MaxDepth), "")
	case t.All != nil:
		v.group(t.All, at.Key("all"), depth)
	default:
		v.group(t.Any, at.Key("any"), depth)
	}
}

func (v *validation) group(group []Tree, at *document.Path, depth int) {
	if len(group) == 0 {
		v.fail(at, document.CodeRequired, "the group is empty", "")
	}
	for i := range group {
		if v.items > MaxItems {
			v.items++ // only counted: what else is wrong with them nobody reads
			continue
		}
		v.tree(&group[i], at.Index(i), depth+1)
	}
}

func (v *validation) item(item *Item, at *document.Path) {
	v.items++
	if item.Workflow == "" {
		v.fail(at.Key("workflow"), document.CodeRequired, `"workflow" is missing: which workflow is waited for`, "")
	}
	if item.Date == "" {
		v.fail(at.Key("date"), document.CodeRequired, `"date" is missing: which runs of it count, such as today or last1Days`, "")
	} else if err := Check(item.Date); err != nil {
		v.fail(at.Key("date"), document.CodeNotInEnum, err.Error(), item.Date)
	}
}

// OnFailure is what a dependent task does when what it asks for has failed.
type OnFailure string

// The values of on_failure of a dependent task.
const (
	OnFailureFail OnFailure = "fail" // it fails at once
	OnFailureWait OnFailure = "wait" // it waits for a recovery or another run, up to its timeout
)

// Decide brings the findings about the items, in the order of Items, to one. A group of all
// has failed as soon as one has, a group of any when every one has. With OnFailureWait a
// failure of the whole is a wait with the code CodeHeld and the failure as its cause. It
// panics where there are not as many findings as items.
func Decide(t *Tree, findings []Finding, policy OnFailure) Finding {
	d := deciding{rest: findings}
	f := d.tree(t)
	if len(d.rest) != 0 {
		panic(fmt.Sprintf("interval: %d findings too many", len(d.rest)))
	}
	if f.Verdict == Failed && policy == OnFailureWait {
		return Finding{Verdict: Waiting, Code: CodeHeld, Args: map[string]string{}, Text: "waits although " + f.Text + ", because on_failure is wait", Causes: []Finding{f}}
	}
	return f
}

type deciding struct{ rest []Finding }

func (d *deciding) tree(t *Tree) Finding {
	if t.Item != nil {
		if len(d.rest) == 0 {
			panic("interval: findings are missing")
		}
		f := d.rest[0]
		d.rest = d.rest[1:]
		return f
	}
	if t.Any != nil {
		return group(CodeAny, Success, Failed, d.trees(t.Any))
	}
	return group(CodeAll, Failed, Success, d.trees(t.All))
}

func (d *deciding) trees(trees []Tree) []Finding {
	findings := make([]Finding, len(trees))
	for i := range trees {
		findings[i] = d.tree(&trees[i])
	}
	return findings
}

// group decides a group: one member with the settling verdict settles it, one that waits
// keeps it waiting, else it has the other one. The causes are the members that made it so.
func group(code string, settling, other Verdict, members []Finding) Finding {
	verdict := other
	for _, m := range members {
		if m.Verdict == settling {
			verdict = settling
			break
		}
		if m.Verdict == Waiting {
			verdict = Waiting
		}
	}
	var causes []Finding
	for _, m := range members {
		if m.Verdict == verdict {
			causes = append(causes, m)
		}
	}
	if len(causes) == 1 && len(members) == 1 {
		return causes[0] // a group of one is its member
	}
	f := Finding{Verdict: verdict, Code: code, Args: map[string]string{
		"verdict": string(verdict), "members": strconv.Itoa(len(members)), "count": strconv.Itoa(len(causes)),
	}}
	f.Text = groupWords(code, verdict, len(causes), len(members))
	f.Causes = cut(causes)
	return f
}

func groupWords(code string, verdict Verdict, n, of int) string {
	verb := map[Verdict]string{Success: "succeeded", Failed: "failed", Waiting: "to come"}[verdict]
	switch {
	case code == CodeAny && verdict == Waiting:
		return fmt.Sprintf("one of %d dependencies must succeed, and none has: %d are still to come", of, n)
	case verdict == Waiting:
		return fmt.Sprintf("all of %d dependencies must succeed: %d are still to come", of, n)
	}
	return fmt.Sprintf("%d of %d dependencies have %s", n, of, verb)
}
