package dolphin

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// quotedReference is a reference in quotes of SQL: there the quotes go when it is bound.
var quotedReference = regexp.MustCompile(`(['"])(\$\{[^{}]*\})(['"])`)

// sql writes an SQL task.
func (w *writing) sql() {
	w.kind = typeSQL
	p, n := w.t.params, &w.t.notes
	w.datasource()
	at := p.path("sql")
	text := w.lines(at, p.text("sql"))
	n.add(codeSQL, at)
	if strings.Contains(text, "!{") {
		n.add(codeSQLRaw, at)
		w.raw = true
	} else {
		text = quotedReference.ReplaceAllString(w.text(at, text), "$2")
	}
	w.own.set(keySQL, text)
	for _, key := range []string{"preStatements", "postStatements"} {
		if raw := p.raw(key); !empty(raw) {
			n.add(codeStatements, p.path(key), shownRaw(raw))
		}
	}
	if p.flag("sendEmail") {
		n.add(codeSQLMail, p.path("sendEmail"), p.text("title"))
	}
	if kind := p.text("sqlType"); kind != "" {
		n.add(codeSQLType, p.path("sqlType"))
	}
	for _, key := range []string{"udfs", "connParams", "segmentSeparator"} {
		if text := p.text(key); text != "" {
			n.add(codeSQLExtra, p.path(key), shown(text))
		}
	}
	if limit := p.number("limit", 0); limit > 0 {
		n.add(codeSQLExtra, p.path("limit"), strconv.FormatInt(limit, 10))
	}
	p.drop("type", "title", "groupId", "showType", "displayRows", "sqlSource")
}

// datasource writes the name of a datasource, of which an export has the id.
func (w *writing) datasource() {
	p := w.t.params
	id := p.number("datasource", 0)
	name := w.im.named("datasource", id)
	if name == "" {
		name = strings.ToLower(p.text("type")) + "_" + strconv.FormatInt(id, 10)
		w.t.notes.add(codeDatasource, p.path("datasource"), "it is "+name+" now")
	}
	w.own.set(keyDatasource, name)
}

// procedure writes the call of a stored procedure as a statement.
func (w *writing) procedure() {
	w.kind = typeSQL
	p := w.t.params
	w.datasource()
	at := p.path("method")
	w.t.notes.add(codeProcedure, at)
	w.own.set(keySQL, w.text(at, p.text("method")))
	p.drop("type")
}

// http writes an HTTP task.
func (w *writing) http() {
	w.kind = typeHTTP
	p, n := w.t.params, &w.t.notes
	n.add(codeHTTP, p.path("url"))
	address := w.text(p.path("url"), p.text("url"))
	method := strings.ToUpper(p.text(either(p, "httpMethod", "httpRequestMethod")))
	body := w.text(p.path(either(p, "httpBody", "httpRequestBody")), p.text(either(p, "httpBody", "httpRequestBody")))
	var headers, fields mapping
	for _, o := range p.objects(either(p, "httpParams", "httpRequestParams")) {
		name, value := o.text("prop"), w.text(o.path("value"), o.text("value"))
		switch o.word("httpParametersType", "PARAMETER", "PARAMETER", "BODY", "HEADERS") {
		case "HEADERS":
			headers = append(headers, entry{name, value})
		case "BODY":
			fields = append(fields, entry{name, value})
		default:
			address = withQuery(address, name, value)
		}
		o.rest(codeUnknownField)
		n.add(codeHTTPParams, o.at, name)
	}
	if body == "" && len(fields) > 0 {
		body = jsonBody(fields)
		if !hasHeader(headers, "Content-Type") {
			headers = append(headers, entry{"Content-Type", "application/json"})
		}
	}
	w.own.set(keyURL, address)
	if method != "GET" {
		w.own.set(keyMethod, method)
	}
	w.own.set(keyHeaders, distinct(headers))
	w.own.set(keyBody, body)
	w.own.set(keyExpect, w.expect())
	if ms := p.number("connectTimeout", 0); ms > 0 {
		w.own.set(keyConnectTimeout, duration(ms, time.Millisecond))
		n.add(codeHTTPTime, p.path("connectTimeout"))
	}
	w.socketTimeout()
}

// socketTimeout is the task's timeout where it has none of its own: it ends a call that hangs.
func (w *writing) socketTimeout() {
	p := w.t.params
	ms := p.number("socketTimeout", 0)
	if ms <= 0 || w.t.o.flag("timeoutFlag") {
		return
	}
	w.own.set(keyTimeout, mapping{{keyAfter, duration(ms, time.Millisecond)}})
	w.t.notes.add(codeHTTPTime, p.path("socketTimeout"))
}

// expect writes the condition on the answer.
func (w *writing) expect() mapping {
	p := w.t.params
	check := p.word("httpCheckCondition", "STATUS_CODE_DEFAULT", "STATUS_CODE_DEFAULT", "STATUS_CODE_CUSTOM", "BODY_CONTAINS", "BODY_NOT_CONTAINS")
	condition := p.text("condition")
	w.t.notes.add(codeHTTPExpect, p.path("httpCheckCondition"))
	const whatever = "100-599" // there a look at the body is none at the status
	switch check {
	case "STATUS_CODE_CUSTOM":
		return mapping{{keyStatus, number(strconv.FormatInt(p.number("condition", 200), 10))}}
	case "BODY_CONTAINS":
		return mapping{{keyStatus, whatever}, {keyBodyContains, w.text(p.path("condition"), condition)}}
	case "BODY_NOT_CONTAINS":
		return mapping{{keyStatus, whatever}, {keyBodyNotContains, w.text(p.path("condition"), condition)}}
	}
	return mapping{{keyStatus, number("200")}}
}

// withQuery adds a parameter to an address. References stay as they are.
func withQuery(address, name, value string) string {
	sep := "?"
	if strings.Contains(address, "?") {
		sep = "&"
	}
	return address + sep + escape(name) + "=" + escape(value)
}

// escape escapes a text for a query, but for its references.
func escape(text string) string {
	var b strings.Builder
	from := 0
	for _, at := range reference.FindAllStringIndex(text, -1) {
		b.WriteString(url.QueryEscape(text[from:at[0]]))
		b.WriteString(text[at[0]:at[1]])
		from = at[1]
	}
	b.WriteString(url.QueryEscape(text[from:]))
	return b.String()
}

// jsonBody writes the fields of a body as one object.
func jsonBody(fields mapping) string {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(f.key) + ": " + quote(f.value.(string)))
	}
	b.WriteByte('}')
	return b.String()
}

func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // a text can always be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func hasHeader(headers mapping, name string) bool {
	for _, h := range headers {
		if strings.EqualFold(h.key, name) {
			return true
		}
	}
	return false
}

// distinct keeps the last of several entries of one key.
func distinct(m mapping) mapping {
	var out mapping
	for i, e := range m {
		if m[i+1:].get(e.key) == nil {
			out = append(out, e)
		}
	}
	return out
}
