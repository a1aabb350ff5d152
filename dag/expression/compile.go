package expression

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/porpoise/porpoise/dag/document"
)

// compiler turns the parser's tree into nodes, and finds what is not of this language.
type compiler struct {
	source *source
	seen   map[ast.Node]bool
	names  map[string]bool
	tasks  map[string]bool
}

func compile(text string) (*Expression, *Error) {
	s, err := prepare(text)
	if err != nil {
		return nil, err
	}
	tree, parseErr := parser.Parse(string(s.text))
	if parseErr != nil {
		return nil, s.parseError(parseErr)
	}
	c := &compiler{source: s, seen: map[ast.Node]bool{}, names: map[string]bool{}, tasks: map[string]bool{}}
	root, err := c.node(tree.Node)
	if err != nil {
		return nil, err
	}
	return &Expression{root: root, names: sortedKeys(c.names), tasks: sortedKeys(c.tasks)}, nil
}

// parseError is the parser's error with its place in the text as written.
func (s *source) parseError(err error) *Error {
	if at, ok := errors.AsType[*file.Error](err); ok {
		return failf(s.place(at.From), "%s", plainly(at.Message))
	}
	return failf(0, "%s", err.Error())
}

var token = regexp.MustCompile(`^unexpected token \w+\((.*)\)$`)

// plainly is a message of the parser's without the names of its parts.
func plainly(message string) string {
	if message == "unexpected token EOF" {
		return "the expression ends too early"
	}
	message, _, _ = strings.Cut(message, ": strconv.")
	return token.ReplaceAllString(message, "unexpected $1")
}

func (c *compiler) at(n ast.Node) int { return c.source.place(n.Location().From) }

func (c *compiler) nodes(of ...ast.Node) ([]node, *Error) {
	out := make([]node, len(of))
	for i, n := range of {
		var err *Error
		if out[i], err = c.node(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *compiler) node(n ast.Node) (node, *Error) {
	// The parser puts the middle of a < b < c into both comparisons, and the left of
	// a ?: b twice: the one means something else to whoever knows JavaScript, and
	// nested they double the work each time.
	if c.seen[n] {
		return nil, failf(c.at(n), "a chain like a < b < c or a ?: b is not known: write a < b && b < c, or a ?? b")
	}
	c.seen[n] = true
	at := c.at(n)
	switch n := n.(type) {
	case *ast.NilNode:
		return &constant{at, nil}, nil
	case *ast.BoolNode:
		return &constant{at, n.Value}, nil
	case *ast.IntegerNode:
		return &constant{at, int64(n.Value)}, nil
	case *ast.FloatNode:
		return &constant{at, n.Value}, nil
	case *ast.StringNode:
		return c.text(at, n.Value)
	case *ast.IdentifierNode:
		return c.name(n)
	case *ast.UnaryNode:
		return c.use(unary[n.Operator], at, n.Operator, n.Node)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ConditionalNode:
		return c.choice(n)
	case *ast.MemberNode:
		return c.member(n)
	case *ast.CallNode:
		return c.call(n)
	case *ast.BuiltinNode:
		return c.function(at, n.Name, n.Arguments)
	case *ast.ArrayNode:
		return c.list(at, n.Nodes)
	case *ast.MapNode:
		return c.mapping(at, n.Pairs)
	case *ast.SliceNode:
		return nil, failf(at, "a part of a list or text by [from:to] is not known")
	case *ast.BytesNode:
		return nil, failf(at, "bytes are not known: write a text in quotes without the b")
	}
	return nil, failf(at, "this is not known here")
}

// text is a string; with ${name} in it, the value of the name stands there as text.
func (c *compiler) text(at int, text string) (node, *Error) {
	var parts []node
	plain := strings.Builder{}
	for rest := text; ; {
		before, after, found := strings.Cut(rest, "${")
		plain.WriteString(before)
		if !found {
			break
		}
		if strings.HasSuffix(before, "$") { // $${ is ${ itself
			plain.WriteString("{")
			rest = after
			continue
		}
		name, after, closed := strings.Cut(after, "}")
		if !closed {
			return nil, failf(at, "${ in the text has no closing brace; for the characters themselves write $${")
		}
		if message := wrongName(name); message != "" {
			return nil, failf(at, "%s", message)
		}
		if plain.Len() > 0 {
			parts = append(parts, &constant{at, plain.String()})
			plain.Reset()
		}
		parts = append(parts, c.known(at, name))
		rest = after
	}
	if len(parts) == 0 {
		return &constant{at, plain.String()}, nil
	}
	if plain.Len() > 0 {
		parts = append(parts, &constant{at, plain.String()})
	}
	return &apply{at: at, gives: isText, operands: parts, do: template}, nil
}

// name is a bare word or what stands for ${name}.
func (c *compiler) name(n *ast.IdentifierNode) (node, *Error) {
	at := n.Location().From
	if name, ok := c.source.names[at]; ok {
		return c.known(c.source.place(at), name), nil
	}
	switch n.Value {
	case "null":
		return &constant{c.source.place(at), nil}, nil
	case "undefined":
		return nil, failf(c.source.place(at), "undefined is not known: a missing name is an error; for a default write name ?? default")
	}
	return c.known(c.source.place(at), n.Value), nil
}

// known is the read of a whole name: a member of a task, or a value.
func (c *compiler) known(at int, name string) node {
	if dot := strings.LastIndexByte(name, '.'); dot > 0 && taskMembers[name[dot+1:]] {
		return c.ofTask(at, name[:dot], name[dot+1:])
	}
	c.names[name] = true
	return &read{at, name}
}

func (c *compiler) ofTask(at int, task, member string) node {
	if taskMembers[member] {
		c.tasks[task] = true
		return &taskRead{at, task, member}
	}
	name := task + "." + member
	c.names[name] = true
	return &read{at, name}
}

func (c *compiler) binary(n *ast.BinaryNode) (node, *Error) {
	at := c.at(n)
	switch n.Operator {
	case "&&", "and", "||", "or":
		return c.both(n)
	case "??":
		sides, err := c.nodes(n.Left, n.Right)
		if err != nil {
			return nil, err
		}
		return &fallback{sides[0], sides[1]}, nil
	case "matches":
		sides, err := c.nodes(n.Left, n.Right)
		if err != nil {
			return nil, err
		}
		do, err := pattern(at, sides[1])
		if err != nil {
			return nil, err
		}
		return c.apply(operator{isText, isAny, isBool, do}, at, "matches", sides[:1])
	}
	op, ok := binary[n.Operator]
	if !ok {
		return nil, failf(at, "%s is not known", n.Operator)
	}
	return c.use(op, at, n.Operator, n.Left, n.Right)
}

func (c *compiler) both(n *ast.BinaryNode) (node, *Error) {
	sides, err := c.nodes(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	for _, side := range sides {
		if err := c.takes(truth, n.Operator, side); err != nil {
			return nil, err
		}
	}
	or := n.Operator == "||" || n.Operator == "or"
	return fold(&both{c.at(n), or, sides[0], sides[1]}, sides)
}

func (c *compiler) choice(n *ast.ConditionalNode) (node, *Error) {
	parts, err := c.nodes(n.Cond, n.Exp1, n.Exp2)
	if err != nil {
		return nil, err
	}
	if err := c.takes(truth, "?", parts[0]); err != nil {
		return nil, err
	}
	return fold(&choice{parts[0], parts[1], parts[2]}, parts)
}

// use is an operator between operands that stand in the text.
func (c *compiler) use(op operator, at int, sign string, operands ...ast.Node) (node, *Error) {
	in, err := c.nodes(operands...)
	if err != nil {
		return nil, err
	}
	return c.apply(op, at, sign, in)
}

// apply holds the operands against what the operator takes.
func (c *compiler) apply(op operator, at int, sign string, in []node) (node, *Error) {
	for i, want := range []kind{op.left, op.right} {
		if i < len(in) {
			if err := c.takes(want, sign, in[i]); err != nil {
				return nil, err
			}
		}
	}
	return fold(&apply{at, op.gives, in, op.do}, in)
}

func (c *compiler) takes(want kind, sign string, operand node) *Error {
	if operand.kind()&want != 0 {
		return nil
	}
	return failf(operand.place(), "%s takes %s here, not %s", sign, want, operand.kind())
}

// fold works out what is made of constants alone, so that what can never work is found
// where the text is read.
func fold(n node, of []node) (node, *Error) {
	if slices.ContainsFunc(of, func(part node) bool { _, ok := part.(*constant); return !ok }) {
		return n, nil
	}
	v, err := n.eval(&run{left: maxSteps})
	if err != nil {
		return nil, err
	}
	return &constant{n.place(), v}, nil
}

func (c *compiler) list(at int, of []ast.Node) (node, *Error) {
	elements, err := c.nodes(of...)
	if err != nil {
		return nil, err
	}
	list := func(c *call) (any, *Error) { return c.in, nil }
	return fold(&apply{at, isList, elements, list}, elements)
}

func (c *compiler) mapping(at int, pairs []ast.Node) (node, *Error) {
	var in []node
	for _, p := range pairs {
		pair, ok := p.(*ast.PairNode)
		if !ok {
			return nil, failf(at, "this is not known here")
		}
		both, err := c.nodes(pair.Key, pair.Value)
		if err != nil {
			return nil, err
		}
		if err := c.takes(isText, "a map's key", both[0]); err != nil {
			return nil, err
		}
		in = append(in, both...)
	}
	return fold(&apply{at, isMap, in, mapped}, in)
}

// mapped is the map of keys and values that follow each other.
func mapped(c *call) (any, *Error) {
	out := make(map[string]any, len(c.in)/2)
	for i := 0; i < len(c.in); i += 2 {
		key, ok := c.in[i].(string)
		if !ok {
			return c.fail("a map's key is a text, not %s", shown(c.in[i]))
		}
		out[key] = c.in[i+1]
	}
	return out, nil
}

// member is value.name or value["name"].
func (c *compiler) member(n *ast.MemberNode) (node, *Error) {
	at := c.at(n)
	name, constant := n.Property.(*ast.StringNode)
	dotted := constant && c.dotted(n)
	if task, ok := c.task(n.Node); ok {
		if !constant {
			return nil, failf(at, "of a task the member is written out: state, reason, exit_code, attempts, or an output")
		}
		of, err := c.taskName(task)
		if err != nil {
			return nil, err
		}
		return c.ofTask(c.at(task), of, name.Value), nil
	}
	if dotted && name.Value == "length" {
		return c.use(lengthOf, at, ".length", n.Node)
	}
	if path, from, ok := c.path(n); ok {
		return c.known(from, path), nil
	}
	return c.use(operator{isText | isList | isMap, isText | isNumber, isAny, index}, at, "[]", n.Node, n.Property)
}

// dotted tells a.b from a["b"], which the parser does not: a name after a dot stands
// without a quote.
func (c *compiler) dotted(n *ast.MemberNode) bool {
	at := n.Property.Location().From
	return at < len(c.source.text) && !strings.ContainsRune("\"'`", c.source.text[at])
}

// path is a.b.c as one name, where all of it is bare words.
func (c *compiler) path(n *ast.MemberNode) (path string, at int, ok bool) {
	name, ok := n.Property.(*ast.StringNode)
	if !ok || !c.dotted(n) {
		return "", 0, false
	}
	switch of := n.Node.(type) {
	case *ast.IdentifierNode:
		from := of.Location().From
		if _, placeholder := c.source.names[from]; placeholder {
			return "", 0, false
		}
		return of.Value + "." + name.Value, c.source.place(from), true
	case *ast.MemberNode:
		before, at, ok := c.path(of)
		return before + "." + name.Value, at, ok
	}
	return "", 0, false
}

// task finds task("name").
func (c *compiler) task(n ast.Node) (*ast.CallNode, bool) {
	call, ok := n.(*ast.CallNode)
	if !ok {
		return nil, false
	}
	callee, ok := call.Callee.(*ast.IdentifierNode)
	return call, ok && callee.Value == "task"
}

func (c *compiler) taskName(call *ast.CallNode) (string, *Error) {
	if len(call.Arguments) == 1 {
		if name, ok := call.Arguments[0].(*ast.StringNode); ok && name.Value != "" && !strings.Contains(name.Value, "${") {
			return name.Value, nil
		}
	}
	return "", failf(c.at(call), `task wants the name of a task in quotes: task("load all").state`)
}

// call is value.method(...) or name(...).
func (c *compiler) call(n *ast.CallNode) (node, *Error) {
	at := c.at(n)
	callee, ok := n.Callee.(*ast.MemberNode)
	if !ok {
		if name, ok := n.Callee.(*ast.IdentifierNode); ok && name.Value != "task" {
			return c.function(at, name.Value, n.Arguments)
		}
		return nil, failf(at, `task("name") is followed by .state, .reason, .exit_code, .attempts or an output`)
	}
	name, _ := callee.Property.(*ast.StringNode)
	if name == nil {
		return nil, failf(at, "this can't be called")
	}
	method, known := methods[name.Value]
	if !known {
		return nil, failf(at, "there is no method %s: known are %s", document.Quoted(name.Value), strings.Join(sortedKeys(methods), ", "))
	}
	if len(n.Arguments) != method.arguments {
		return nil, failf(at, ".%s takes %d arguments, not %d", name.Value, method.arguments, len(n.Arguments))
	}
	return c.use(method.operator, at, "."+name.Value, append([]ast.Node{callee.Node}, n.Arguments...)...)
}

func (c *compiler) function(at int, name string, arguments []ast.Node) (node, *Error) {
	f, known := functions[name]
	if !known {
		return nil, failf(at, "there is no function %s: known are %s", document.Quoted(name), strings.Join(sortedKeys(functions), ", "))
	}
	if len(arguments) != 1 {
		return nil, failf(at, "%s takes 1 argument, not %d", name, len(arguments))
	}
	return c.use(f, at, name, arguments...)
}
