package dag

import "github.com/porpoise/porpoise/dag/document"

// Case is one branch: the tasks that run where its condition is the first that holds.
type Case struct {
	When string   `json:"when" rule:"required,max=4096" doc:"The condition. The first case whose condition holds is taken."`
	Then []string `json:"then" rule:"required,max=1000" editor:"tasks" doc:"The tasks that run then. Each of them needs this one."`
}

// SwitchSpec is what a switch task has for itself: conditions over parameters and outputs
// that choose among the tasks that need it. Those that stand in no branch run in any case.
type SwitchSpec struct {
	Cases []Case `json:"cases" rule:"required,min=1,max=100" verbatim:"true" editor:"cases" doc:"The branches, looked at in their order."`
	// Else is nil where there is none; an empty one chooses nothing.
	Else []string `json:"else,omitempty" rule:"max=1000" verbatim:"true" editor:"tasks" doc:"The tasks that run where no case holds; [] for none. Without it the task fails then."`
}

// ConditionsSpec is what a conditions task has for itself: a switch over the states of the
// tasks that it needs. It waits for all of them, however they end.
type ConditionsSpec SwitchSpec

// brancher is the spec of a task that chooses. other is nil where there is no else.
type brancher interface {
	branches() (cases []Case, other []string)
}

func (s *SwitchSpec) branches() (cases []Case, other []string)     { return s.Cases, s.Else }
func (s *ConditionsSpec) branches() (cases []Case, other []string) { return s.Cases, s.Else }

// Validate checks the branches by their tags.
func (s *SwitchSpec) Validate() []FieldError { return document.Check(s, nil) }

// Validate checks the branches by their tags.
func (s *ConditionsSpec) Validate() []FieldError { return document.Check(s, nil) }
