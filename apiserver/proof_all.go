package apiserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

const (
	// allProofsTime is how long one answer about many schedules goes on before it leaves the rest to the next: short of what one
	// schedule may take, which is under way then.
	allProofsTime = 8 * time.Second
	// provedTogether is how many schedules are read at once for that.
	provedTogether = 10
)

// UnheldProof is a schedule whose proof does not hold.
type UnheldProof struct {
	Project    string `json:"project"`
	Workflow   string `json:"workflow"`
	Name       string `json:"name"`
	Verdict    string `json:"verdict" enum:"fails,unproven"`
	Why        string `json:"why,omitempty" doc:"Why the fires, or some of them, were not compared with the rules."`
	WhyCode    string `json:"why_code,omitempty" enum:"broken,folded,changed,before,unplanned,no_time,moved,no_rule"`
	Missing    int    `json:"missing" doc:"At most 100, as all counts of what is wrong."`
	Unexpected int    `json:"unexpected"`
	NoInstance int    `json:"no_instance"`
	NoFire     int    `json:"no_fire"`
	WrongDays  int    `json:"wrong_days"`
}

// ProofOfSchedules adds up the proofs of many schedules.
type ProofOfSchedules struct {
	From       Time             `json:"from"`
	To         Time             `json:"to"`
	Verdict    string           `json:"verdict" enum:"holds,fails,unproven" doc:"The worst of the schedules that this answer is about."`
	Schedules  int64            `json:"schedules" doc:"How many this answer is about."`
	Held       int64            `json:"held" doc:"Of how many of them the proof holds."`
	Planned    int64            `json:"planned"`
	Outcomes   map[string]int64 `json:"outcomes" nullable:"false"`
	Open       int64            `json:"open"`
	Pruned     int64            `json:"pruned"`
	Retired    int64            `json:"retired"`
	Items      []UnheldProof    `json:"items" nullable:"false" doc:"Those whose proof does not hold."`
	NextCursor string           `json:"next_cursor,omitempty" doc:"Present when schedules are left: time was up, or the list full. Ask with the same from and to, and add up."`
}

type proveSchedules struct {
	FireRange
	Project string `query:"project" maxLength:"512" doc:"Of this project alone; absent is all that the caller may see."`
	Cursor  string `query:"cursor" maxLength:"1024" doc:"next_cursor of the answer before."`
}

type proofsAnswer struct{ Body ProofOfSchedules }

func (s *Server) proveSchedules(ctx context.Context, in *proveSchedules) (*proofsAnswer, error) {
	from, to, err := in.moments(s.at())
	if err != nil {
		return nil, err
	}
	who, f := callOf(ctx).who, sql.ScheduleFilter{}
	if in.Project != "" {
		p, err := s.store.Project(ctx, in.Project)
		if err == nil && who.role(p.ID) < roleViewer {
			err = sql.ErrNotFound
		}
		if err != nil {
			return nil, fmt.Errorf("prove schedules: %w", err)
		}
		f.ProjectID = p.ID
	}
	out := ProofOfSchedules{From: Time(from), To: Time(to), Verdict: verdictHolds, Outcomes: map[string]int64{}, Items: []UnheldProof{}}
	began := time.Now()
	for page := (sql.Page{Cursor: in.Cursor, Limit: provedTogether}); ; {
		rows, next, err := s.store.Schedules(ctx, f, page)
		if err != nil {
			return nil, fmt.Errorf("prove schedules: %w", err)
		}
		for _, sch := range rows {
			if who.role(sch.ProjectID) < roleViewer {
				continue
			}
			if err := s.addProof(ctx, &out, sch, from, to, began.Add(proofTime)); err != nil {
				return nil, err
			}
		}
		page.Cursor = next
		if next == "" || time.Since(began) > allProofsTime || len(out.Items) > maxTold {
			out.NextCursor = next
			return &proofsAnswer{Body: out}, nil
		}
	}
}

// addProof adds that of one schedule. One that was deleted meanwhile is about nothing.
func (s *Server) addProof(ctx context.Context, out *ProofOfSchedules, sch sql.Schedule, from, to dag.Millis, stop time.Time) error {
	p, err := s.prove(ctx, sch, from, to, stop)
	if errors.Is(err, sql.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	out.Schedules++
	out.Planned, out.Open, out.Pruned, out.Retired = out.Planned+p.Planned, out.Open+p.Open, out.Pruned+p.Pruned, out.Retired+p.Retired
	for state, n := range p.Outcomes {
		out.Outcomes[state] += n
	}
	if p.Holds {
		out.Held++
		return nil
	}
	if out.Verdict != verdictFails {
		out.Verdict = p.Verdict
	}
	out.Items = append(out.Items, UnheldProof{
		Project: sch.Project, Workflow: sch.Workflow, Name: sch.Name, Verdict: p.Verdict, Why: p.Why, WhyCode: p.WhyCode,
		Missing: len(p.Missing), Unexpected: len(p.Unexpected), NoInstance: len(p.NoInstance), NoFire: len(p.NoFire), WrongDays: len(p.WrongDays),
	})
	return nil
}
