package expression

import (
	"math"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag/document"
)

// kind is a set of the kinds that a value may be of.
type kind uint8

const (
	isNil kind = 1 << iota
	isBool
	isNumber
	isText
	isList
	isMap

	isAny = isNil | isBool | isNumber | isText | isList | isMap
)

var kindNames = [...]string{"nil", "a boolean", "a number", "a text", "a list", "a map"}

// String lists the kinds: "a number or a text".
func (k kind) String() string {
	var names []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

func kindOf(v any) kind {
	switch v.(type) {
	case bool:
		return isBool
	case int64, float64:
		return isNumber
	case string:
		return isText
	case []any, []string:
		return isList
	case map[string]any, map[string]string:
		return isMap
	default:
		return isNil
	}
}

// normal brings a value from outside to one of the kinds; false where it is of none.
func normal(v any) (any, bool) {
	switch v := v.(type) {
	case nil, bool, int64, string, []any, []string, map[string]any, map[string]string:
		return v, true
	case int:
		return int64(v), true
	case int32:
		return int64(v), true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return nil, false
}

// shown is a value for a message.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case bool, int64, float64:
		text, _ := written(v)
		return text
	case string:
		return "the text " + document.Quoted(v)
	default:
		return kindOf(v).String()
	}
}

// written is how a value stands in a text: lists, maps and nil do not.
func written(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		if math.Abs(v) < 1e21 {
			return strconv.FormatFloat(v, 'f', -1, 64), true // a day like 20260101 stays one
		}
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}

// boolean is what a value decides: the texts true and false are what they say.
func boolean(v any) (decision, ok bool) {
	switch v {
	case true, "true":
		return true, true
	case false, "false":
		return false, true
	}
	return false, false
}

// maxNumeral is how long a text may be that is a number.
const maxNumeral = 64

// number is the number that a value is, or that its text writes in decimal.
func number(v any) (any, bool) {
	text, isText := v.(string)
	if !isText {
		return v, kindOf(v) == isNumber
	}
	if text == "" || len(text) > maxNumeral || strings.Trim(text, "0123456789+-.eE") != "" {
		return nil, false // not Inf, 0x1p4 or 1_000, which the functions below would take
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f, true
	}
	return nil, false
}

func float(v any) float64 {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	f, _ := v.(float64)
	return f
}
