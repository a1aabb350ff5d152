package dag

import (
	"slices"
	"time"

	"github.com/porpoise/porpoise/dag/document"
)

// ApprovalSpec is what an approval task has for itself: who is asked, for what, and what becomes of it
// where nobody answers.
type ApprovalSpec struct {
	Message    string     `json:"message,omitempty" rule:"max=4096" editor:"text" doc:"What is asked, in words."`
	Approvers  *Approvers `json:"approvers,omitempty" doc:"Who may decide. Where nothing is said: whoever may operate the workflows of the project."`
	Quorum     int        `json:"quorum,omitempty" rule:"min=1,max=100" default:"1" doc:"How many people must approve. One who rejects is enough to end it."`
	NotStarter bool       `json:"not_starter,omitempty" doc:"Whoever started the instance may not decide."`
	Expires    Duration   `json:"expires,omitempty" rule:"min=0s,max=365d" doc:"How long to wait for an answer; where nothing is said, without end."`
	OnExpiry   string     `json:"on_expiry,omitempty" rule:"enum=fail|approve|reject" default:"fail" doc:"What the end of that time means: the task fails as any other, so that a retry asks again, or it counts as approved or rejected."`
	Form       Form       `json:"form,omitempty" rule:"max=100" editor:"params" doc:"What whoever approves fills in. Each field is an output of the task."`
}

// Form is a list of fields that people fill in, each with the type and the rules of a parameter.
type Form = document.Entries[paramText]

// Approvers are people, by their names or by their roles in the project. One of either is enough.
type Approvers struct {
	Users []string `json:"users,omitempty" rule:"max=100" verbatim:"true" editor:"names" doc:"People by their names; each must be a member of the project."`
	Roles []string `json:"roles,omitempty" rule:"max=4" verbatim:"true" editor:"names" doc:"Roles in the project: operator, editor, owner, admin."`
}

// The values of on_expiry.
const (
	ExpiryFail    = "fail"
	ExpiryApprove = "approve"
	ExpiryReject  = "reject"
)

// approverRoles are the roles that may decide: whoever may only look may not.
var approverRoles = []string{"operator", "editor", "owner", "admin"}

// Validate checks the keys, those who are asked, and the form.
func (s *ApprovalSpec) Validate() []FieldError {
	errs := document.Check(s, nil)
	if s.Expires == 0 && s.OnExpiry != "" && s.OnExpiry != ExpiryFail {
		errs = append(errs, FieldError{Field: "on_expiry", Code: CodeConflict, Message: `"on_expiry" means something only together with "expires"`})
	}
	errs = append(errs, s.checkApprovers()...)
	fields, more := params("form", s.Form, false)
	errs = append(errs, more...)
	for i := range fields {
		p := &fields[i]
		at := document.FieldKey("form", p.Name)
		switch {
		case p.Default != nil && moving(*p.Default):
			errs = append(errs, FieldError{
				Field: at, Code: document.CodeInvalid, Value: document.Shown(*p.Default),
				Message: "the default of a field stands as it is: neither ${name} nor $[...] is put in",
			})
		case p.Default == nil && s.OnExpiry == ExpiryApprove:
			errs = append(errs, FieldError{
				Field: at, Code: document.CodeRequired,
				Message: `the field wants a default: with "on_expiry: approve" it may be that nobody fills it in`,
			})
		}
	}
	return document.Sort(errs)
}

func (s *ApprovalSpec) checkApprovers() []FieldError {
	if s.Approvers == nil {
		return nil
	}
	var root *document.Path
	at := root.Key("approvers")
	var errs []FieldError
	if len(s.Approvers.Users)+len(s.Approvers.Roles) == 0 {
		errs = append(errs, FieldError{Field: at.String(), Code: document.CodeRequired, Message: `nobody could decide: name "users" or "roles", or leave "approvers" out`})
	}
	if len(s.Approvers.Roles) == 0 && s.Quorum > len(s.Approvers.Users) && len(s.Approvers.Users) > 0 {
		errs = append(errs, FieldError{Field: "quorum", Code: document.CodeOutOfRange, Message: "more people must approve than are asked"})
	}
	for k, list := range [][]string{s.Approvers.Users, s.Approvers.Roles} {
		for i, name := range list {
			here := at.Key([]string{"users", "roles"}[k]).Index(i).String()
			switch {
			case name == "":
				errs = append(errs, FieldError{Field: here, Code: document.CodeRequired, Message: "a name is missing"})
			case slices.Contains(list[:i], name):
				errs = append(errs, FieldError{Field: here, Code: CodeDuplicateName, Message: document.Quoted(name) + " stands here twice", Value: document.Shown(name)})
			case k == 1 && !slices.Contains(approverRoles, name):
				errs = append(errs, FieldError{Field: here, Code: document.CodeNotInEnum, Message: "want operator, editor, owner or admin, not " + document.Quoted(name), Value: document.Shown(name)})
			}
		}
	}
	return errs
}

// Needed is how many people must approve.
func (s *ApprovalSpec) Needed() int { return max(s.Quorum, 1) }

// Fields are the fields of the form, in its order.
func (s *ApprovalSpec) Fields() []Param {
	fields, _ := params("form", s.Form, false) // what is wrong with them, Validate has said
	return fields
}

// CheckValues holds what somebody filled in against the form: unknown fields, values of another type, and
// missing ones without a default. The fields of the errors are values.<name>.
func (s *ApprovalSpec) CheckValues(values map[string]string) []FieldError {
	return checkGiven("values", "the form", "field", s.Fields(), values)
}

// outputs are the names of the fields.
func (s *ApprovalSpec) outputs() []string {
	names := make([]string, len(s.Form))
	for i := range s.Form {
		names[i] = s.Form[i].Name
	}
	return names
}

// end is when an approval that is asked for at the moment now expires; 0 for never.
func (s *ApprovalSpec) end(now Millis) Millis {
	if s.Expires == 0 {
		return 0
	}
	return now.Add(time.Duration(s.Expires))
}
