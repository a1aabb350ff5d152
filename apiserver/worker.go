package apiserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/registry"
)

// Workers says how workers are and lets them drain. Figures come from memory: workers send them every
// few seconds on the stream on which they serve logs.
type Workers interface {
	// Figures are the newest of a worker; false where it has no stream here.
	Figures(worker string) (*rpc.WorkerFigures, bool)
	// Heard says when they came; false where it has no stream here.
	Heard(worker string) (time.Time, bool)
	// Drain keeps the wish that a worker takes no more work until Resume, whichever process it is.
	Drain(ctx context.Context, worker string, wish DrainWish) error
	Resume(ctx context.Context, worker string) error
}

// DrainWish says why a worker is to take no work, and from when on what still runs is handed back.
type DrainWish struct {
	Reason   string        `json:"reason"`
	By       string        `json:"by"`
	At       dag.Millis    `json:"at"`
	GiveBack time.Duration `json:"give_back,omitempty"` // after At; 0: never
}

// WorkerDetail is a live worker with its figures.
type WorkerDetail struct {
	NodeFace
	Figures *WorkerFigures `json:"figures,omitempty" doc:"Absent: the worker has no stream to this apiserver."`
}

// WorkerFigures are how a worker is doing; the counters begin with its process.
type WorkerFigures struct {
	Load            float64         `json:"load" doc:"Of its machine, over a minute."`
	DriftMS         int64           `json:"drift_ms" doc:"How late its last tick was."`
	Running         int             `json:"running" doc:"Attempts."`
	FreeSlots       int             `json:"free_slots" doc:"0 also where it takes no work."`
	TakesNoWork     string          `json:"takes_no_work,omitempty" doc:"Why; absent: it does."`
	Outbox          int             `json:"outbox" doc:"Reports that no master has acknowledged."`
	FreeDisk        float64         `json:"free_disk" doc:"Share of its data folder's disk, 0 to 1."`
	DroppedLogBytes int64           `json:"dropped_log_bytes" doc:"Output that the disk did not take."`
	Heartbeat       HeartbeatFigure `json:"heartbeat"`
}

// HeartbeatFigure is how a worker's heartbeat manager is doing.
type HeartbeatFigure struct {
	Main        int     `json:"main" doc:"Attempts that have not beaten in this cycle."`
	Backup      int     `json:"backup" doc:"Attempts that have."`
	InFlight    int     `json:"in_flight" doc:"Attempts in messages without an answer."`
	PeriodMS    int64   `json:"period_ms" doc:"One message per master in it."`
	CycleMS     int64   `json:"cycle_ms"`
	TimeoutMS   int64   `json:"timeout_ms" doc:"An attempt that is silent for longer is asked about everywhere."`
	Batch       int     `json:"batch" doc:"Attempts in one message."`
	Capacity    int     `json:"capacity" doc:"Slots that these settings allow."`
	Utilisation float64 `json:"utilisation" doc:"Of what can be sent in a cycle."`
	LastCycle   int     `json:"last_cycle" doc:"Beats in the last whole cycle."`
	Messages    int64   `json:"messages"`
	Sent        int64   `json:"sent" doc:"Beats."`
	Throttled   int64   `json:"throttled" doc:"Beats that a master put off."`
	Retried     int64   `json:"retried" doc:"Beats sent again in the same cycle."`
	Moved       int64   `json:"moved" doc:"Attempts left to the next cycle, after too many tries."`
	Overruns    int64   `json:"overruns" doc:"Cycles that ended before all had beaten."`
	Lapsed      int64   `json:"lapsed" doc:"Attempts that were silent for the timeout."`
	OldestMS    int64   `json:"oldest_ms" doc:"The longest silence of an attempt now."`
	Near        int     `json:"near_deadline" doc:"Attempts with less than a cycle left."`
}

type (
	// WorkerPath names a worker.
	WorkerPath struct {
		Worker string `path:"worker" maxLength:"128"`
	}
	workerAnswer struct{ Body WorkerDetail }
	drainWorker  struct {
		WorkerPath
		Body *struct {
			Reason   string `json:"reason,omitempty" maxLength:"256" doc:"For people; absent: who asked."`
			GiveBack int    `json:"give_back_after_seconds,omitempty" minimum:"1" maximum:"604800" doc:"What runs then is handed back, as no failure; absent: it may end."`
		}
	}
)

func (s *Server) workerRoutes() {
	add(s, spec{
		id: "get-worker", method: "GET", path: "/cluster/workers/{worker}", tag: "cluster", summary: "How a worker is doing", access: access{object: noObject},
	}, s.getWorker)
	admin := access{need: roleAdmin, object: noObject}
	add(s, spec{
		id: "drain-worker", method: "POST", path: "/cluster/workers/{worker}/drain", tag: "cluster", access: admin, body: jsonBody, optional: true, status: 202,
		summary: "Let a worker take no more work, until it is resumed",
	}, s.drainWorker)
	add(s, spec{
		id: "resume-worker", method: "POST", path: "/cluster/workers/{worker}/resume", tag: "cluster", access: admin, status: 202,
		summary: "Let a worker take work again",
	}, s.resumeWorker)
}

// worker finds a live worker.
func (s *Server) worker(name string) (*workerAnswer, error) {
	for _, n := range s.cfg.Cluster.Workers() {
		if n.Name != name {
			continue
		}
		out := &workerAnswer{Body: WorkerDetail{NodeFace: nodeFace(n)}}
		if s.cfg.Workers != nil {
			if f, ok := s.cfg.Workers.Figures(name); ok {
				out.Body.Figures = figuresFace(f)
			}
		}
		return out, nil
	}
	return nil, notFound()
}

func (s *Server) getWorker(_ context.Context, in *WorkerPath) (*workerAnswer, error) {
	return s.worker(in.Worker)
}

func (s *Server) drainWorker(ctx context.Context, in *drainWorker) (*workerAnswer, error) {
	found, err := s.worker(in.Worker)
	if err != nil {
		return nil, err
	}
	by := callOf(ctx).who.name
	wish := DrainWish{Reason: "drained by " + by, By: by, At: dag.MillisOf(s.now())}
	if in.Body != nil {
		if in.Body.Reason != "" {
			wish.Reason = in.Body.Reason
		}
		wish.GiveBack = time.Duration(in.Body.GiveBack) * time.Second
	}
	if s.cfg.Workers == nil {
		return nil, noRegistry()
	}
	switch err := s.cfg.Workers.Drain(ctx, in.Worker, wish); {
	case errors.Is(err, registry.ErrUnavailable):
		return nil, noRegistry()
	case err != nil:
		return nil, fmt.Errorf("drain worker %s: %w", in.Worker, err)
	}
	found.Body.Draining = wish.Reason
	return found, nil
}

func (s *Server) resumeWorker(ctx context.Context, in *WorkerPath) (*workerAnswer, error) {
	found, err := s.worker(in.Worker)
	if err != nil {
		return nil, err
	}
	if s.cfg.Workers == nil {
		return nil, noRegistry()
	}
	switch err := s.cfg.Workers.Resume(ctx, in.Worker); {
	case errors.Is(err, registry.ErrUnavailable):
		return nil, noRegistry()
	case err != nil:
		return nil, fmt.Errorf("resume worker %s: %w", in.Worker, err)
	}
	found.Body.Draining = ""
	return found, nil
}

func noRegistry() *Problem { return unavailable("the registry is not available: try again") }

func figuresFace(f *rpc.WorkerFigures) *WorkerFigures {
	h := f.GetHeartbeat()
	return &WorkerFigures{
		Load: f.GetLoad(), DriftMS: f.GetDriftMs(), Running: int(f.GetRunning()), FreeSlots: int(f.GetFreeSlots()), TakesNoWork: f.GetDraining(),
		Outbox: int(f.GetOutbox()), FreeDisk: f.GetFreeDisk(), DroppedLogBytes: f.GetDroppedLogBytes(),
		Heartbeat: HeartbeatFigure{
			Main: int(h.GetMain()), Backup: int(h.GetBackup()), InFlight: int(h.GetInFlight()), PeriodMS: h.GetPeriodMs(), CycleMS: h.GetCycleMs(),
			TimeoutMS: h.GetTimeoutMs(), Batch: int(h.GetBatch()), Capacity: int(h.GetCapacity()), Utilisation: h.GetUtilisation(),
			LastCycle: int(h.GetLastCycle()), Messages: h.GetMessages(), Sent: h.GetSent(), Throttled: h.GetThrottled(), Retried: h.GetRetried(),
			Moved: h.GetMoved(), Overruns: h.GetOverruns(), Lapsed: h.GetLapsed(), OldestMS: h.GetOldestMs(), Near: int(h.GetNearDeadline()),
		},
	}
}
