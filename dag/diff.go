package dag

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/porpoise/porpoise/dag/document"
)

// The limits of a Difference: an answer that a page can take, whatever the two texts are.
const (
	// MaxDiffValue is how many bytes one value has before it is cut.
	MaxDiffValue = 2 << 10
	// MaxDiffEntries is how many tasks, fields and edges are listed.
	MaxDiffEntries = 2_000
	// maxDiffBytes bounds all values together.
	maxDiffBytes = 1 << 20
)

// cutMark ends a value that was cut.
const cutMark = "…"

// Difference is what differs between two texts of a workflow. It looks at the texts alone,
// which need not be valid: drafts are compared, too. Order, comments and spacing do not count.
type Difference struct {
	Added, Removed []string // tasks, in the order of their text
	Changed        []TaskDifference
	EdgesAdded     []Edge
	EdgesRemoved   []Edge
	Settings       []FieldDifference // of the workflow itself
	// Cut says that there is more than a Difference lists.
	Cut bool
}

// TaskDifference is what differs in a task that both texts have. Its needs are edges.
type TaskDifference struct {
	Task   string
	Fields []FieldDifference
}

// FieldDifference is one value that differs: nil is one that is not there. A list is
// written as JSON, and ends with … where it was cut, like every other value.
type FieldDifference struct {
	Field         string
	Before, After *string
}

// Edge is one entry of a task's needs: To needs From.
type Edge struct{ From, To string }

// Empty tells whether nothing differs.
func (d *Difference) Empty() bool {
	return !d.Cut && len(d.Added)+len(d.Removed)+len(d.Changed)+len(d.EdgesAdded)+len(d.EdgesRemoved)+len(d.Settings) == 0
}

// Compare returns what differs between two texts. The errors are of the text that
// cannot be read at all.
func Compare(before, after []byte, beforeFormat, afterFormat string) (Difference, []FieldError) {
	a, errs := document.Read(before, beforeFormat)
	if len(errs) > 0 {
		return Difference{}, errs
	}
	b, errs := document.Read(after, afterFormat)
	if len(errs) > 0 {
		return Difference{}, errs
	}
	c := comparing{room: MaxDiffEntries, bytes: maxDiffBytes}
	c.out.Settings = c.fields(a, b, "tasks")
	c.tasks(taskNodes(a), taskNodes(b))
	return c.out, nil
}

// namedNode is a task of a text under the name that it is told by.
type namedNode struct {
	name  string
	node  *document.Node
	needs []string
}

// taskNodes lists the tasks of a text. A name that stands twice is told apart by its number,
// a task without one by its place; neither can be mistaken for a name.
func taskNodes(root *document.Node) []namedNode {
	list := root.Get("tasks")
	if list == nil || list.Kind != document.List {
		return nil
	}
	out := make([]namedNode, 0, len(list.Items))
	seen := make(map[string]int, len(list.Items))
	for i := range list.Items {
		n := &list.Items[i]
		t := namedNode{name: taskField(i), node: n}
		if name := n.Get("name"); name != nil && name.Text != "" {
			t.name = name.Text
		}
		if seen[t.name]++; seen[t.name] > 1 {
			t.name = fmt.Sprintf("%s [%d]", t.name, seen[t.name])
		}
		if needs := n.Get("needs"); needs != nil {
			for k := range needs.Items {
				t.needs = append(t.needs, needs.Items[k].Text)
			}
		}
		out = append(out, t)
	}
	return out
}

// comparing gathers a Difference within its limits.
type comparing struct {
	out   Difference
	room  int // entries that are still taken
	bytes int // of values
}

// take tells whether there is room for one entry more.
func (c *comparing) take() bool {
	if c.room == 0 {
		c.out.Cut = true
		return false
	}
	c.room--
	return true
}

func (c *comparing) tasks(before, after []namedNode) {
	old := make(map[string]*namedNode, len(before))
	for i := range before {
		old[before[i].name] = &before[i]
	}
	stays := make(map[string]bool, len(after))
	for i := range after {
		now := &after[i]
		stays[now.name] = true
		was := old[now.name]
		if was == nil {
			if c.take() {
				c.out.Added = append(c.out.Added, now.name)
			}
			c.edges(nil, now)
			continue
		}
		if fields := c.fields(was.node, now.node, "needs"); len(fields) > 0 {
			c.out.Changed = append(c.out.Changed, TaskDifference{Task: now.name, Fields: fields})
		}
		c.edges(was, now)
	}
	for i := range before {
		if was := &before[i]; !stays[was.name] {
			if c.take() {
				c.out.Removed = append(c.out.Removed, was.name)
			}
			c.edges(was, nil)
		}
	}
}

func (c *comparing) edges(before, after *namedNode) {
	var was, now []string
	to := ""
	if before != nil {
		was, to = before.needs, before.name
	}
	if after != nil {
		now, to = after.needs, after.name
	}
	had, has := asSet(was), asSet(now)
	for _, from := range now {
		if !had[from] && c.take() {
			c.out.EdgesAdded = append(c.out.EdgesAdded, Edge{from, to})
		}
	}
	for _, from := range was {
		if !has[from] && c.take() {
			c.out.EdgesRemoved = append(c.out.EdgesRemoved, Edge{from, to})
		}
	}
}

func asSet(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// leaf is a value at the end of a path through maps.
type leaf struct {
	field string
	node  *document.Node
}

// leaves lists the values below a map, but those of the key that is left out.
func leaves(n *document.Node, at, without string, out []leaf) []leaf {
	if n.Kind != document.Map || at != "" && len(n.Items) == 0 {
		return append(out, leaf{at, n})
	}
	for i := range n.Keys {
		if at == "" && n.Keys[i].Name == without {
			continue
		}
		out = leaves(&n.Items[i], document.FieldKey(at, n.Keys[i].Name), without, out)
	}
	return out
}

func (c *comparing) fields(before, after *document.Node, without string) []FieldDifference {
	old := map[string]*document.Node{}
	first := leaves(before, "", without, nil)
	for _, l := range first {
		old[l.field] = l.node
	}
	var out []FieldDifference
	add := func(field string, was, now *document.Node) {
		if c.take() {
			out = append(out, c.field(field, was, now))
		}
	}
	stays := map[string]bool{}
	for _, l := range leaves(after, "", without, nil) {
		stays[l.field] = true
		was := old[l.field]
		if was == nil || was.Kind != l.node.Kind || plain(was) != plain(l.node) {
			add(l.field, was, l.node)
		}
	}
	for _, l := range first {
		if !stays[l.field] {
			add(l.field, l.node, nil)
		}
	}
	return out
}

func (c *comparing) field(name string, was, now *document.Node) FieldDifference {
	out := FieldDifference{Field: name}
	// "1" and 1 are different values and the same characters.
	quote := was != nil && now != nil && was.Kind != now.Kind && plain(was) == plain(now)
	out.Before, out.After = c.value(was, quote), c.value(now, quote)
	return out
}

func (c *comparing) value(n *document.Node, quote bool) *string {
	if n == nil {
		return nil
	}
	text := plain(n)
	if quote && n.Kind == document.String {
		text = `"` + text + `"`
	}
	if most := min(MaxDiffValue, c.bytes); len(text) > most {
		for most > 0 && !utf8.RuneStart(text[most]) {
			most--
		}
		text = text[:most] + cutMark
	}
	c.bytes = max(c.bytes-len(text), 0)
	return &text
}

// plain writes a value: a scalar as it is, a list or an empty map as JSON.
func plain(n *document.Node) string {
	switch n.Kind {
	case document.Null:
		return "null"
	case document.Bool, document.Number, document.String:
		return n.Text
	case document.List, document.Map:
		var b strings.Builder
		writeFlow(&b, n)
		return b.String()
	}
	return n.Text
}

// writeFlow writes a value as JSON, the keys of maps in order: theirs does not count.
func writeFlow(b *strings.Builder, n *document.Node) {
	switch n.Kind {
	case document.List:
		b.WriteByte('[')
		for i := range n.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			writeFlow(b, &n.Items[i])
		}
		b.WriteByte(']')
	case document.Map:
		order := make([]int, len(n.Keys))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int { return strings.Compare(n.Keys[i].Name, n.Keys[j].Name) })
		b.WriteByte('{')
		for k, i := range order {
			if k > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(b, "%q: ", n.Keys[i].Name)
			writeFlow(b, &n.Items[i])
		}
		b.WriteByte('}')
	case document.String:
		fmt.Fprintf(b, "%q", n.Text)
	case document.Null:
		b.WriteString("null")
	case document.Bool, document.Number:
		b.WriteString(n.Text)
	}
}
