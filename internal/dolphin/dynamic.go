package dolphin

import (
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag"
)

// isDynamic tells whether a task runs a workflow once for each item.
func isDynamic(kind string) bool { return kind == "DYNAMIC" }

// overList is one list of a dynamic task as it was read: a text there, cut at a separator.
type overList struct {
	param
	items []string
	open  bool // it refers to something, so that its items are known when it runs
}

// overLists reads the lists of a dynamic task. As there, pieces without a character are no items.
func (t *task) overLists() []overList {
	n := &t.notes
	var lists []overList
	for _, o := range t.params.objects("listParameters") {
		l := overList{param: param{was: strings.TrimSpace(o.text("name")), value: o.text("value"), kind: dag.ParamString, at: o.at}}
		separator := o.text("separator")
		o.rest(codeUnknownField)
		if l.was == "" {
			continue
		}
		if l.name = identifier(l.was); l.name != l.was {
			n.add(codeParamName, o.path("name"), l.was+" became "+l.name)
		}
		if separator == "" {
			separator = ","
		}
		l.open = strings.Contains(l.value, "${")
		// As there, each character of the separator cuts.
		for _, item := range strings.FieldsFunc(l.value, func(r rune) bool { return strings.ContainsRune(separator, r) }) {
			if item = strings.TrimSpace(item); item != "" {
				l.items = append(l.items, item)
			}
		}
		lists = append(lists, l)
	}
	return lists
}

// declareItems makes the items of dynamic tasks parameters of the workflows that they run: there
// a start may give what nobody declares, here it may not.
func (im *importer) declareItems() {
	for _, f := range im.list {
		for _, t := range f.tasks {
			child := im.flows[t.child()]
			if !isDynamic(t.kind) || child == nil {
				continue
			}
			for _, l := range t.lists {
				if child.params.named(l.name) == nil {
					child.params = append(child.params, param{was: l.was, name: l.name, kind: dag.ParamString, at: child.definition.at})
					child.notes.add(codeItemDeclared, child.definition.at, l.name+", which "+t.name+" of "+f.name+" gives")
				}
			}
		}
	}
}

// dynamic writes a task that runs a workflow once for each combination of the items of lists.
func (w *writing) dynamic() {
	w.sub()
	w.kind = typeDynamic
	p, n := w.t.params, &w.t.notes
	var over list
	known, total := true, 1
	for _, l := range w.t.lists {
		if w.t.inputs.named(l.name) != nil {
			w.t.inputs = w.t.inputs.without(l.name) // there, too, the item wins
			n.add(codeParamRepeated, l.at, l.was)
		}
		over = append(over, mapping{{keyName, l.name}, {keyIn, w.items(l)}})
		known, total = known && !l.open, total*max(len(l.items), 1)
		total = min(total, dag.MaxItems+1)
	}
	w.own = append(w.own, entry{keyOver, over})
	w.own.set(keyFilter, w.filter())
	if parallel := p.number("degreeOfParallelism", 0); parallel > 0 {
		w.own.set(keyParallel, min(parallel, maxParallel))
		code := codeParallel
		if parallel > maxParallel {
			code = codeParallelBound
		}
		n.add(code, p.path("degreeOfParallelism"), strconv.FormatInt(parallel, 10))
	}
	if most := p.number("maxNumOfSubWorkflowInstances", 0); most > 0 && (!known || int64(total) > most) {
		n.add(codeItemsMost, p.path("maxNumOfSubWorkflowInstances"), strconv.FormatInt(most, 10))
	}
}

// maxParallel is the most children that a definition lets run at the same time.
const maxParallel = 100

// items are the items of a list. One that is a reference as a whole is taken for a list: what it
// refers to must hold one.
func (w *writing) items(l overList) any {
	at := l.at + ".value"
	code := codeItems
	if l.open && !w.isList(l.value) || timeExpression.MatchString(l.value) {
		code = codeItemsText
	}
	w.t.notes.add(code, at, l.was)
	refer := func(text string) string {
		return replaceReferences(text, func(name string) (string, bool) { return w.refer(at, name, false) })
	}
	if l.open && len(l.items) == 1 {
		return refer(l.items[0])
	}
	out := make([]string, len(l.items))
	for i, item := range l.items {
		out[i] = refer(item)
	}
	return out
}

// isList tells whether a text is a reference to a parameter of the workflow that is a list here.
func (w *writing) isList(text string) bool {
	m := reference.FindStringSubmatch(text)
	if m == nil || m[0] != text {
		return false
	}
	p := w.globals.find(m[1])
	return p != nil && p.kind == dag.ParamList && w.above(m[1]) == ""
}

// filter writes what there removes items as a condition on them.
func (w *writing) filter() string {
	p := w.t.params
	var out []string
	for item := range strings.SplitSeq(p.text("filterCondition"), ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, quote(item))
		}
	}
	if len(out) == 0 {
		return ""
	}
	w.t.notes.add(codeItemsFilter, p.path("filterCondition"))
	var parts []string
	for _, l := range w.t.lists {
		parts = append(parts, "!["+strings.Join(out, ", ")+"].includes("+l.name+")")
	}
	return strings.Join(parts, " && ")
}
