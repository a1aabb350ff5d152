package dolphin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/dag/schedule"
)

// Kind says how a field came over.
type Kind string

// The kinds of findings.
const (
	Mapped  Kind = "mapped"  // it means the same here
	Changed Kind = "changed" // it came over in another form, which is worth a look
	Hand    Kind = "hand"    // it came over in part, and somebody has to finish it
	None    Kind = "none"    // it has no equivalent here and was left out
)

// Open tells whether something is left to do.
func (k Kind) Open() bool { return k == Hand || k == None }

// Finding says what became of one field of the export. Field is its path there, as in
// [0].taskDefinitionList[2].taskParams.rawScript; To is the key that it became, if any.
type Finding struct {
	Field   string `json:"field"`
	Kind    Kind   `json:"kind"`
	Code    string `json:"code"`
	To      string `json:"to,omitempty"`
	Message string `json:"message"`
}

// Result is a whole import.
type Result struct {
	Findings  []Finding  `json:"findings,omitempty"` // about the export as a whole
	Workflows []Workflow `json:"workflows"`          // sub-workflows before those that run them
}

// Workflow is one workflow that came over.
type Workflow struct {
	Name     string           `json:"workflow"`
	Was      string           `json:"was,omitempty"` // its name there, where that is not allowed here
	Code     int64            `json:"code"`
	YAML     []byte           `json:"-"`
	Findings []Finding        `json:"findings,omitempty"`
	Tasks    []Task           `json:"tasks"`
	Schedule *Schedule        `json:"schedule,omitempty"`
	Refused  []dag.FieldError `json:"refused,omitempty"` // what a check of the definition says against it

	subs []int64
}

// Task is one task that came over.
type Task struct {
	Name     string    `json:"task"`
	Was      string    `json:"was,omitempty"`
	Code     int64     `json:"code"`
	Type     string    `json:"type"` // its type there
	Findings []Finding `json:"findings,omitempty"`
}

// Schedule is the timing of a workflow. Here it is a thing of its own beside the workflow. The moments of its
// document are in the timezone of the server that wrote the export.
type Schedule struct {
	Spec     schedule.Spec `json:"document"`
	Means    string        `json:"means,omitempty"` // the cron expression in words
	Enabled  bool          `json:"enabled"`         // whether it was on there
	Fires    bool          `json:"fires"`           // whether it is one that fires here
	Findings []Finding     `json:"findings,omitempty"`
}

// notes gathers findings about one thing.
type notes struct {
	list []Finding
	more int // not in the list any more
}

// maxFindings bounds what is said about one thing; the rest is counted.
const maxFindings = 1000

// add notes a finding by its code. details come after the code's own sentence.
func (n *notes) add(code, field string, details ...string) {
	if len(n.list) == maxFindings {
		n.more++
		r := ruleOf(codeMore)
		n.list[maxFindings-1] = Finding{Field: field, Kind: r.Kind, Code: codeMore, Message: r.About + ": " + strconv.Itoa(n.more+1)}
		return
	}
	r := ruleOf(code)
	message := r.About
	if len(details) > 0 {
		message += ": " + printable(strings.Join(details, "; "))
	}
	n.list = append(n.list, Finding{Field: field, Kind: r.Kind, Code: code, To: r.To, Message: message})
}

// maxDetails is how many characters of an export one sentence repeats.
const maxDetails = 300

// printable keeps the text of an export from steering a terminal.
func printable(text string) string {
	return cut(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\ufffd'
	}, text), maxDetails)
}

// Count returns how many findings there are of each kind.
func (r *Result) Count() map[Kind]int {
	count := map[Kind]int{}
	r.Each(func(_ string, findings []Finding) {
		for i := range findings {
			count[findings[i].Kind]++
		}
	})
	return count
}

// Refused returns how many workflows a check of the definition refuses.
func (r *Result) Refused() int {
	n := 0
	for i := range r.Workflows {
		if len(r.Workflows[i].Refused) > 0 {
			n++
		}
	}
	return n
}

// Open tells whether something is left to do by hand.
func (r *Result) Open() bool {
	count := r.Count()
	return count[Hand]+count[None]+r.Refused() > 0
}

// Each visits the findings by what they are about.
func (r *Result) Each(visit func(about string, findings []Finding)) {
	visit("the export", r.Findings)
	for i := range r.Workflows {
		w := &r.Workflows[i]
		visit("workflow "+w.Name, w.Findings)
		if w.Schedule != nil {
			visit("schedule of "+w.Name, w.Schedule.Findings)
		}
		for k := range w.Tasks {
			visit("task "+w.Tasks[k].Name+" of "+w.Name, w.Tasks[k].Findings)
		}
	}
}

// WriteText writes the report for people: what is left to do, then what came over.
func (r *Result) WriteText(out io.Writer) error {
	var b strings.Builder
	count := r.Count()
	fmt.Fprintf(&b, "Workflows: %d, refused as they are: %d\nFields that came over: %d, in another form: %d, that need a hand: %d, without an equivalent: %d\n",
		len(r.Workflows), r.Refused(), count[Mapped], count[Changed], count[Hand], count[None])
	for _, part := range []struct {
		title string
		has   func(Kind) bool
	}{
		{"Left to do", Kind.Open},
		{"Came over in another form", func(k Kind) bool { return k == Changed }},
		{"Came over", func(k Kind) bool { return k == Mapped }},
	} {
		fmt.Fprintf(&b, "\n%s\n", part.title)
		r.Each(func(about string, findings []Finding) {
			for _, f := range findings {
				if part.has(f.Kind) {
					fmt.Fprintf(&b, "  %s: %s [%s]\n    %s%s\n", about, f.Message, f.Code, f.Field, arrow(f.To))
				}
			}
		})
	}
	for i := range r.Workflows {
		if err := r.Workflows[i].writeText(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func arrow(to string) string {
	if to == "" {
		return ""
	}
	return " -> " + to
}

func (w *Workflow) writeText(b *strings.Builder) error {
	if s := w.Schedule; s != nil {
		state := map[bool]string{true: "on", false: "off"}[s.Enabled]
		fmt.Fprintf(b, "\nSchedule of %s, which was %s there\n", w.Name, state)
		if s.Means != "" {
			fmt.Fprintf(b, "  # %s\n", s.Means)
		}
		text, err := marshal(s.mapping())
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			b.WriteString("  " + line)
		}
	}
	if len(w.Refused) > 0 {
		fmt.Fprintf(b, "\nRefused in %s\n", w.Name)
		for _, e := range w.Refused {
			fmt.Fprintf(b, "  line %d, column %d: %s: %s\n", e.Line, e.Column, e.Field, e.Message)
		}
	}
	return nil
}

// shown is a text of an export in a sentence.
func shown(text string) string { return document.Shown(text) }

// shownRaw is a piece of an export's JSON in a sentence.
func shownRaw(raw json.RawMessage) string {
	if text, ok := unquote(raw); ok {
		return shown(text)
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return shown(string(raw))
	}
	return strings.ReplaceAll(shown(b.String()), `\"`, `"`)
}
