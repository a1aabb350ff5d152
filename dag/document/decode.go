package document

import (
	"reflect"
	"strconv"
	"strings"
)

// Reader is what a type has that reads itself from a node: where a value may have
// several forms, or keys depend on each other. It reports what is wrong to d.
type Reader interface {
	ReadDocument(d *Decoder, n *Node, at *Path)
}

// Decoder turns nodes into Go values by the tags of their types, and gathers every
// error on the way. Values that could be read are set even where others are wrong,
// so that later checks can go on with them.
type Decoder struct{ errs []FieldError }

// maxGathered is how many errors are kept before they are sorted by place and cut.
const maxGathered = 10 * MaxErrors

// Decode reads the tree at n into the struct (or other value) that into points at.
// It checks presence and types; Check checks the rest.
func Decode(n *Node, into any) []FieldError {
	d := &Decoder{}
	d.Read(n, into, nil)
	return Sort(d.errs)
}

// Read reads n into the value that into points at.
func (d *Decoder) Read(n *Node, into any, at *Path) {
	d.value(n, reflect.ValueOf(into).Elem(), at)
}

// Fail reports an error at a node.
func (d *Decoder) Fail(n *Node, at *Path, code, message string) {
	d.add(at, FieldError{Code: code, Message: message, Value: Shown(n.Text), Line: int(n.Line), Column: int(n.Column)})
}

func (d *Decoder) add(at *Path, e FieldError) {
	if len(d.errs) < maxGathered {
		e.Field = at.String()
		d.errs = append(d.errs, e)
	}
}

// Want reports that n should be of another type, described by want; it says null by
// its own code, because its cure is another.
func (d *Decoder) Want(n *Node, at *Path, want string) {
	if n.Kind == Null {
		d.Fail(n, at, CodeNull, "there is no value here: give "+want+", or leave the key out")
		return
	}
	message := "want " + want + ", not " + n.Kind.String()
	if n.Kind != List && n.Kind != Map {
		message = "want " + want + ", not " + n.Kind.String() + " (" + Shown(n.Text) + ")"
	}
	d.Fail(n, at, CodeWrongType, message)
}

func (d *Decoder) value(n *Node, v reflect.Value, at *Path) {
	if v.Kind() == reflect.Pointer {
		if n.Kind == Null {
			d.Want(n, at, wanted(v.Type().Elem()))
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if own, ok := reflect.TypeAssert[Reader](v.Addr()); ok {
		own.ReadDocument(d, n, at)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.Struct(n, at, Keys{}, v.Addr().Interface())
	case reflect.Slice:
		if n.Kind != List {
			d.Want(n, at, "a list")
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
		for i := range n.Items {
			d.value(&n.Items[i], v.Index(i), at.Index(i))
		}
	case reflect.Map:
		d.stringMap(n, v, at)
	case reflect.String:
		d.text(n, v, at)
	case reflect.Bool:
		if n.Kind != Bool {
			d.Want(n, at, "true or false")
			return
		}
		v.SetBool(n.Text == "true")
	case reflect.Int:
		d.integer(n, v, at)
	case reflect.Float64:
		d.float(n, v, at)
	default:
		panic("document: cannot read a " + v.Type().String())
	}
}

// wanted says in words what a type is read from.
func wanted(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[Duration]():
		return durationForm
	case t.Kind() == reflect.Struct, t.Kind() == reflect.Map:
		return "a map"
	case t.Kind() == reflect.Slice:
		return "a list"
	case t.Kind() == reflect.Int:
		return "a whole number"
	case t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Bool:
		return "true or false"
	default:
		return "a text"
	}
}

func (d *Decoder) text(n *Node, v reflect.Value, at *Path) {
	if n.Kind == List || n.Kind == Map || n.Kind == Null {
		d.Want(n, at, "a text")
		return
	}
	v.SetString(n.Text) // also where it is wrong: others may refer to it
	if n.Kind != String {
		d.Want(n, at, `a text in quotes, such as "`+Shown(n.Text)+`"`)
	}
}

func (d *Decoder) stringMap(n *Node, v reflect.Value, at *Path) {
	if v.Type() != reflect.TypeFor[map[string]string]() {
		panic("document: cannot read a " + v.Type().String())
	}
	if n.Kind != Map {
		d.Want(n, at, "a map of names and texts")
		return
	}
	m := make(map[string]string, len(n.Keys))
	for i := range n.Keys {
		var t Text
		d.Read(&n.Items[i], &t, at.Key(n.Keys[i].Name))
		m[n.Keys[i].Name] = string(t)
	}
	v.Set(reflect.ValueOf(m))
}

func (d *Decoder) integer(n *Node, v reflect.Value, at *Path) {
	i, err := strconv.ParseInt(n.Text, 10, strconv.IntSize)
	switch {
	case n.Kind != Number || !IsInteger(n.Text):
		d.Want(n, at, "a whole number")
	case err != nil:
		d.Fail(n, at, CodeOutOfRange, "the number "+Shown(n.Text)+" is out of range: it does not fit into 64 bits")
	default:
		v.SetInt(i)
	}
}

func (d *Decoder) float(n *Node, v reflect.Value, at *Path) {
	f, err := strconv.ParseFloat(n.Text, 64)
	switch {
	case n.Kind != Number || !IsNumber(n.Text):
		d.Want(n, at, "a number")
	case err != nil:
		d.Fail(n, at, CodeOutOfRange, "the number "+Shown(n.Text)+" is out of range: it does not fit into a double")
	default:
		v.SetFloat(f)
	}
}

// Keys says how Struct takes a map's keys.
type Keys struct {
	Whose string // whose keys they are, "a shell task", for the error of an unknown one
	Open  bool   // unknown keys are passed over: what they may be is not known
}

// Struct reads the map n into several structs at once, which share its keys.
func (d *Decoder) Struct(n *Node, at *Path, keys Keys, into ...any) {
	if n.Kind != Map {
		d.Want(n, at, "a map")
		return
	}
	type target struct {
		field *field
		value reflect.Value
		set   bool
	}
	targets := make([]target, 0, 40) // more keys than any task has; on the stack
	for _, one := range into {
		v := reflect.ValueOf(one).Elem()
		fields := fieldsOf(v.Type())
		for i := range fields {
			targets = append(targets, target{field: &fields[i], value: v.Field(fields[i].index)})
		}
	}
next:
	for i := range n.Keys {
		key := &n.Keys[i]
		for t := range targets {
			if targets[t].field.name == key.Name {
				targets[t].set = true
				item, f := &n.Items[i], targets[t].field
				if f.enum != nil && (item.Kind == Number || item.Kind == Bool) {
					d.Want(item, at.Key(key.Name), oneOf(f.enum))
					continue next
				}
				d.value(item, targets[t].value, at.Key(key.Name))
				continue next
			}
		}
		if keys.Open {
			continue
		}
		known := make([]string, 0, len(targets))
		for t := range targets {
			known = append(known, targets[t].field.name)
		}
		d.unknown(key, at, keys.Whose, known)
	}
	for t := range targets {
		f := targets[t].field
		switch {
		case targets[t].set:
		case f.required:
			d.add(at.Key(f.name), FieldError{Code: CodeRequired, Message: Quoted(f.name) + " is missing", Line: int(n.Line), Column: int(n.Column), Args: Args{"key": f.name}})
		case f.def != "":
			d.fill(f, targets[t].value)
		}
	}
}

// fill sets a default. Its text is ours, so that an error in it is our mistake.
func (d *Decoder) fill(f *field, v reflect.Value) {
	n := Node{Kind: String, Text: f.def}
	if k := v.Kind(); k == reflect.Float64 || k == reflect.Int {
		n.Kind = Number
	}
	before := len(d.errs)
	d.value(&n, v, nil)
	if len(d.errs) > before {
		panic("document: default of " + f.name + ": " + d.errs[before].Message)
	}
}

func (d *Decoder) unknown(key *Key, at *Path, whose string, known []string) {
	message := "there is no key " + Quoted(key.Name) + " here"
	if whose != "" {
		message = whose + " has no key " + Quoted(key.Name)
	}
	if near := Nearest(key.Name, known); near != "" {
		message += "; did you mean " + Quoted(near) + "?"
	} else {
		message += "; known are " + strings.Join(known, ", ")
	}
	d.add(at.Key(key.Name), FieldError{Code: CodeUnknownField, Message: message, Value: Shown(key.Name), Line: int(key.Line), Column: int(key.Column), Args: Args{"key": Shown(key.Name)}})
}

// Place gives errors of Check, and of any other check, the line and column of their
// field in the tree, and drops those whose field, or one around it, is among the
// errors found before: what could not be read is not checked a second time.
func Place(root *Node, before, errs []FieldError) []FieldError {
	wrong := make(map[string]bool, len(before))
	for i := range before {
		wrong[before[i].Field] = true
	}
	kept := errs[:0]
	for _, e := range errs {
		if len(wrong) > 0 && within(wrong, e.Field) {
			continue
		}
		e.Line, e.Column = root.Locate(e.Field)
		kept = append(kept, e)
	}
	return kept
}

// within tells whether field or a field around it is in the set.
func within(set map[string]bool, field string) bool {
	for {
		if set[field] {
			return true
		}
		cut := strings.LastIndexAny(field, ".[")
		if cut <= 0 {
			return false
		}
		field = field[:cut]
	}
}
