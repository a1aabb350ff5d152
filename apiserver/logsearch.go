package apiserver

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/porpoise/porpoise/apiserver/logs"
)

const (
	// errorLike finds the lines that tell of an error in the output of common tools. It
	// can't know what a tool means: a person looks at what it finds.
	errorLike = `(?:error|exception|fatal|critical|panic|traceback|failed|failure)\b|错误|异常|失败`
	// defaultHits is how many hits an answer has where nothing else was asked for.
	defaultHits = 100
)

// LogHit is a line of an output that matches.
type LogHit struct {
	Offset int64  `json:"offset" doc:"Of the line, in bytes of the chosen stream."`
	Line   int64  `json:"line" doc:"From 1."`
	Number int64  `json:"number,omitempty" doc:"Among all hits, from 1; absent without count."`
	Text   string `json:"text" doc:"The line as it is shown, without colours, cut at 500 bytes."`
	Start  int    `json:"start" doc:"Of the first match in the line as it is shown, in UTF-16 units."`
	Length int    `json:"length" doc:"Of the first match, in UTF-16 units."`
	More   []int  `json:"more,omitempty" maxItems:"198" doc:"Start and length of each further match of an expression, one after the other; of 100 matches at most."`
}

// LogFound is the answer to a search.
type LogFound struct {
	Hits     []LogHit `json:"hits" nullable:"false" doc:"In the order of the search: backward, the nearest comes first."`
	Total    int64    `json:"total" doc:"All lines that match, with count and where whole is true; else those that were seen."`
	Whole    bool     `json:"whole" doc:"The search went to its end and was not cut off by its time, 15 seconds."`
	Searched int64    `json:"searched" doc:"Bytes that were looked through."`
}

type searchLog struct {
	AttemptLog
	Query    string `query:"q" maxLength:"1000" doc:"What to find: a text, or with regex an RE2 expression. A match is within a line as it is shown, without colours."`
	Regex    bool   `query:"regex" doc:"q is an expression."`
	Case     bool   `query:"case" doc:"Upper and lower case differ."`
	Errors   bool   `query:"errors" doc:"Find lines that look like errors, instead of q."`
	Offset   int64  `query:"offset" doc:"Hits are lines that begin here or after it; with backward, before it. Negative counts from the end."`
	Line     int64  `query:"line" minimum:"1" doc:"The same by line, whatever the offset."`
	Backward bool   `query:"backward" doc:"Search towards the beginning; from the end where neither offset nor line is given."`
	Count    bool   `query:"count" doc:"Go through the whole output, so that hits are numbered and counted."`
	Limit    int    `query:"limit" minimum:"1" maximum:"1000" doc:"Hits; 100 if absent."`
}

type foundAnswer struct{ Body LogFound }

// pattern is what in asks for, or which field is wrong.
func (in *searchLog) pattern() (text string, expression bool, err error) {
	if in.Errors {
		if in.Query != "" || in.Regex || in.Case {
			return "", false, wrongField(http.StatusBadRequest, "errors", "conflict", "true", "errors: goes with neither q, regex nor case")
		}
		return errorLike, true, nil
	}
	switch {
	case in.Query == "":
		return "", false, wrongField(http.StatusBadRequest, "q", "required", "", "q: is required, or errors=true")
	case len(in.Query) > 1000: // the schema counts characters, the worker bytes
		return "", false, wrongField(http.StatusBadRequest, "q", "out_of_range", in.Query, "q: is longer than 1000 bytes")
	case !utf8.ValidString(in.Query) || strings.ContainsAny(in.Query, "\r\n"):
		return "", false, wrongField(http.StatusBadRequest, "q", "invalid", in.Query, "q: must be one line of UTF-8")
	}
	if in.Regex {
		if _, err := regexp.Compile(in.Query); err != nil {
			return "", false, wrongField(http.StatusBadRequest, "q", "invalid", in.Query, "q: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
	return in.Query, in.Regex, nil
}

// searchLog has the worker look through the output; nothing of it comes here but hits.
func (s *Server) searchLog(ctx context.Context, in *searchLog) (*foundAnswer, error) {
	text, expression, err := in.pattern()
	if err != nil {
		return nil, err
	}
	a, q, err := s.attemptOf(ctx, &in.AttemptLog)
	if err != nil {
		return nil, err
	}
	out := &foundAnswer{Body: LogFound{Hits: []LogHit{}, Whole: true}}
	if a.Worker == "" {
		return out, nil // it ran in the master, and printed nothing
	}
	if s.cfg.Logs == nil {
		return nil, logProblem(a.Worker, logs.ErrWorkerGone)
	}
	q.Offset, q.Line = in.Offset, in.Line
	if in.Backward && in.Offset == 0 && in.Line == 0 {
		q.Offset = 1 << 62 // the end, wherever that is
	}
	limit := in.Limit
	if limit == 0 {
		limit = defaultHits
	}
	found, err := s.cfg.Logs.Search(ctx, a.Worker, logs.Search{
		Query: q, Text: text, Regexp: expression, MatchCase: in.Case, Backward: in.Backward, Count: in.Count, Hits: limit,
	})
	switch {
	case errors.Is(err, logs.ErrNotFound) && (!final(a.State) || a.LogBytes == 0):
		return out, nil // nothing printed
	case errors.Is(err, logs.ErrPattern):
		return nil, wrongField(http.StatusBadRequest, "q", "invalid", text, "q: %s", err)
	case err != nil:
		return nil, logProblem(a.Worker, err)
	}
	for _, h := range found.Hits {
		out.Body.Hits = append(out.Body.Hits, LogHit(h))
	}
	out.Body.Total, out.Body.Whole, out.Body.Searched = found.Total, found.Whole, found.Searched
	return out, nil
}
