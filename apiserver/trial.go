package apiserver

import (
	"context"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/dag/trial"
)

const (
	// maxTrial is how long the cases of one request may run together: those of the examples take a thousandth of it. The
	// case that runs when it is over is ended by its own bound on inputs.
	maxTrial = 5 * time.Second
	// maxTrials is how many requests try workflows out at the same time; the rest of the processors are the masters'.
	maxTrials = 2
	// maxMoments bounds what is told of all cases of a request together.
	maxMoments = 10_000
)

// TrialOptions is a workflow with the cases that it is to be tried with. Neither need be saved.
type TrialOptions struct {
	Text        string `json:"text" doc:"The definition."`
	Format      string `json:"format,omitempty" enum:"yaml,json" doc:"Of text; absent is yaml."`
	Cases       string `json:"cases" maxLength:"1048576" doc:"The cases, as porpoise test reads them from a file."`
	CasesFormat string `json:"cases_format,omitempty" enum:"yaml,json" doc:"Of cases; absent is yaml."`
}

// Trial is what came of the cases. Where one of the texts is wrong nothing was run.
type Trial struct {
	TextErrors  []dag.FieldError `json:"text_errors" nullable:"false" doc:"What is wrong with the definition; the cases are looked at once it is right."`
	CasesErrors []dag.FieldError `json:"cases_errors" nullable:"false" doc:"What is wrong with the cases, with lines of their text."`
	Cases       []TriedCase      `json:"cases" nullable:"false" doc:"In the order of the text."`
	Passed      int              `json:"passed"`
	Failed      int              `json:"failed"`
	LeftOut     int              `json:"left_out" doc:"How many of the last cases were not run: those before them took too long."`
}

// TriedCase is what came of one case.
type TriedCase struct {
	Name     string             `json:"name"`
	Line     int                `json:"line" doc:"Where it begins in the text of the cases."`
	Passed   bool               `json:"passed" doc:"Every expectation was met."`
	State    dag.InstanceState  `json:"state,omitempty" doc:"Of the instance; absent where the start was refused."`
	Reason   dag.Reason         `json:"reason,omitempty"`
	TookMs   int64              `json:"took_ms" doc:"From the start to the last end, on the trial's clock."`
	Failures []TriedExpectation `json:"failures" nullable:"false" doc:"The expectations that were not met."`
	Tasks    []TriedTask        `json:"tasks" nullable:"false"`
	History  []TriedMoment      `json:"history" nullable:"false" doc:"What happened, in order; of all cases together at most 10,000 moments."`
}

// TriedTask is how one task ended in a case.
type TriedTask struct {
	Name     string        `json:"name"`
	State    dag.TaskState `json:"state"`
	Reason   dag.Reason    `json:"reason,omitempty"`
	Attempts int           `json:"attempts"`
}

// TriedMoment is one line of what happened in a case.
type TriedMoment struct {
	AtMs    int64      `json:"at_ms" doc:"After the start."`
	Task    string     `json:"task,omitempty"`
	Attempt int        `json:"attempt,omitempty"`
	State   string     `json:"state"`
	Reason  dag.Reason `json:"reason,omitempty"`
	Message string     `json:"message,omitempty"`
}

// TriedExpectation is one expectation that was not met.
type TriedExpectation struct {
	Field    string `json:"field" doc:"Its path in the text of the cases."`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Expected string `json:"expected"`
	Got      string `json:"got"`
	Hint     string `json:"hint,omitempty" doc:"Why it came otherwise, in words, where that is known."`
}

type tryWorkflow struct {
	ProjectPath
	Body TrialOptions
}

type trialAnswer struct{ Body Trial }

func (s *Server) trialRoutes() {
	add(s, spec{
		id: "try-workflow", method: "POST", path: "/projects/{project}/trial", tag: "workflows",
		summary: "Run the cases of a workflow with given results, without a start", body: textBody, unaudited: true, access: access{need: roleViewer, object: ofProject},
	}, s.tryWorkflow)
}

func (s *Server) tryWorkflow(ctx context.Context, in *tryWorkflow) (*trialAnswer, error) {
	out := Trial{TextErrors: []dag.FieldError{}, CasesErrors: []dag.FieldError{}, Cases: []TriedCase{}}
	plan, wrong := dag.ParsePlan([]byte(in.Body.Text), orYAML(in.Body.Format))
	if len(wrong) > 0 {
		out.TextErrors = wrong[:min(len(wrong), maxErrors)]
		return &trialAnswer{Body: out}, nil
	}
	suite, wrong := trial.Read([]byte(in.Body.Cases), orYAML(in.Body.CasesFormat), plan)
	if len(wrong) > 0 {
		out.CasesErrors = wrong[:min(len(wrong), maxErrors)]
		return &trialAnswer{Body: out}, nil
	}
	select {
	case s.trials <- struct{}{}:
		defer func() { <-s.trials }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	until, moments := s.now().Add(maxTrial), maxMoments
	for i := range suite.Cases {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if s.now().After(until) {
			out.LeftOut = len(suite.Cases) - i
			break
		}
		got := suite.Run(i)
		if got.Passed() {
			out.Passed++
		} else {
			out.Failed++
		}
		out.Cases = append(out.Cases, triedFace(&got, moments))
		moments -= len(out.Cases[i].History)
	}
	return &trialAnswer{Body: out}, nil
}

// orYAML is the format of a text that says none.
func orYAML(format string) string {
	if format == "" {
		return document.YAML
	}
	return format
}

// triedFace tells what came of a case, with at most so many moments.
func triedFace(o *trial.Outcome, moments int) TriedCase {
	c := TriedCase{
		Name: o.Name, Line: o.Line, Passed: o.Passed(), State: o.State, Reason: o.Reason, TookMs: time.Duration(o.Took).Milliseconds(),
		Failures: []TriedExpectation{}, Tasks: []TriedTask{}, History: []TriedMoment{},
	}
	for _, f := range o.Failures[:min(len(o.Failures), maxErrors)] {
		c.Failures = append(c.Failures, TriedExpectation{f.Field, f.Line, f.Column, shown(f.Expected), shown(f.Got), f.Hint})
	}
	for _, t := range o.Tasks {
		c.Tasks = append(c.Tasks, TriedTask(t))
	}
	for _, m := range o.History[:min(len(o.History), moments)] {
		c.History = append(c.History, TriedMoment{time.Duration(m.At).Milliseconds(), m.Task, m.Attempt, m.State, m.Reason, shown(m.Message)})
	}
	return c
}
