package apiserver

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humamux"
	"github.com/gorilla/mux"
	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/egress"
	"github.com/porpoise/porpoise/internal/rpc"
)

// Config is what a Server needs. Store, Cluster and Logger are required; the others
// have working defaults or switch something off when nil.
type Config struct {
	Store   Store
	Logs    Logs   // nil: logs answer 503
	Hints   Hints  // nil: masters find rows by polling
	Events  Events // nil: the stream sends heartbeats and snapshots only
	Cluster Cluster
	Workers Workers // nil: workers have no figures and can't be drained
	Masters Masters // nil: masters have no figures
	// Balancer passes on the wish for another layout of slots; nil refuses it.
	Balancer Balancer
	Leases   Leases
	// Settings are this process's own, as they took effect.
	Settings []Setting
	// Demo ends processes of a demo; nil, outside of one, has no such route.
	Demo Demo
	Keys Keys // nil: secrets can't be kept, and answer 503
	// Node is this process's name, and Refusals what its gRPC server has turned away; nil is nothing.
	Node     string
	Refusals *rpc.Refusals
	// Secrets seals what listeners sign with; nil refuses secrets. Egress says which addresses they may be called at.
	Secrets Sealer
	Egress  egress.Rule
	Logger  hclog.Logger

	// BasePath is where a proxy mounts Porpoise, such as "/porpoise"; "" is the root.
	BasePath string
	// Console serves the web console on every path that is nobody else's; nil is none.
	Console http.Handler
	// SecureCookies marks cookies Secure even where this process sees plain HTTP,
	// because a proxy in front of it speaks TLS.
	SecureCookies bool
	// TrustProxy takes the client's address from X-Forwarded-For's last entry.
	TrustProxy bool
	// Metrics gathers what /metrics shows; nil is the process-wide registry.
	Metrics prometheus.Gatherer
	// Version is shown in the OpenAPI document. Made is what this installation is made of, for admins.
	Version string
	Made    Made
	// SetUp is called once the first admin has a password of his own, so that the printed
	// one can be thrown away; nil does nothing.
	SetUp func()
	// LeastInterval is the shortest time between two fires that a schedule may be saved with; zero is a second, the grain
	// of cron. Those that are saved already fire on.
	LeastInterval time.Duration
	// SurgeStarts is how many starts a second projects get together beyond their own, while another one keeps to its own; zero is no bound.
	SurgeStarts int
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	cost passwordCost // zero is usualCost; only tests have cheaper passwords
}

// Server answers the API. Its handler is safe for concurrent use; Run must be running
// for the audit to reach the database.
type Server struct {
	cfg    Config
	store  Store
	log    hclog.Logger
	router *mux.Router
	below  *mux.Router // of router, what is below /api/v1
	api    huma.API
	now    func() time.Time

	declared map[*mux.Route]*spec
	document []byte // the OpenAPI document
	prefix   string // of request ids
	requests atomic.Uint64

	csrf     *http.CrossOriginProtection
	known    *identities
	throttle *throttle
	pace     *pace
	cost     passwordCost
	hashing  chan struct{} // bounds the memory that argon2id takes
	trials   chan struct{} // bounds the processors that trials take
	plans    *plans
	// workflows are found by their names here.
	workflows *fresh[workflowName, located]
	links     perVersion[[]link]
	uses      perVersion[[]use]
	cells     *cells
	audit     *auditor
	streams   streamCount
	metrics   *metrics

	followers *followers
	pulses    *pulses
	patience  *patience
	turns     *turns
	surges    *surges
	starting  *room // of starts
	others    *room // of all other requests with a body

	signatures *throttle // of calls of schedules' webhooks
}

// New returns a Server with every route in place.
func New(cfg Config) (*Server, error) {
	if cfg.Store == nil || cfg.Cluster == nil || cfg.Logger == nil {
		return nil, fmt.Errorf("apiserver: Store, Cluster and Logger are required")
	}
	if cfg.BasePath != "" && (!strings.HasPrefix(cfg.BasePath, "/") || strings.HasSuffix(cfg.BasePath, "/")) {
		return nil, fmt.Errorf("apiserver: base path %q must start with / and not end with it", cfg.BasePath)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Keys == nil {
		cfg.Keys = noKeys{}
	}
	if cfg.Metrics == nil {
		cfg.Metrics = prometheus.DefaultGatherer
	}
	if cfg.LeastInterval == 0 {
		cfg.LeastInterval = time.Second
	}
	if cfg.Version == "" {
		cfg.Version = "0.0.0"
	}
	if cfg.cost == (passwordCost{}) {
		cfg.cost = usualCost
	}
	teachHuma()
	var seed [6]byte
	_, _ = rand.Read(seed[:]) // never fails, as crypto/rand documents
	s := &Server{
		cfg: cfg, store: cfg.Store, log: cfg.Logger.Named("apiserver"), now: cfg.Now,
		declared: map[*mux.Route]*spec{},
		prefix:   hex.EncodeToString(seed[:]),
		csrf:     http.NewCrossOriginProtection(),
		known:    newIdentities(cfg.Store, cfg.Now),
		throttle: newThrottle(cfg.Now),
		pace:     newPace(cfg.Now),
		cost:     cfg.cost,
		hashing:  make(chan struct{}, maxHashing),
		trials:   make(chan struct{}, maxTrials),
		plans:    newPlans(cfg.Store),
		cells:    newCells(cfg.Store),
		metrics:  newMetrics(),

		signatures: newThrottle(cfg.Now),

		followers: newFollowers(),
		pulses:    newPulses(),
		patience:  newPatience(cfg.Store.Ping, cfg.Logger.Named("apiserver")),
		turns:     newTurns(runtime.GOMAXPROCS(0)),
		surges:    newSurges(cfg.SurgeStarts, cfg.Logger.Named("apiserver")),
		starting:  newRoom("starts", cfg.Logger.Named("apiserver")),
		others:    newRoom("other changes", cfg.Logger.Named("apiserver")),
	}
	s.audit = newAuditor(cfg.Store, s.log, s.metrics.audited)
	s.streams.open = map[int64]int{}
	s.workflows = newFresh(s.locate)
	s.metrics.own.MustRegister(newMeasures(s), newTimerMeasures(s), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "porpoise_api_starts_in_line", Help: "Starts that wait because their project starts more than others.",
	}, func() float64 { return float64(s.surges.waiting()) }))
	if err := s.route(); err != nil {
		return nil, err
	}
	return s, nil
}

// Handler returns the HTTP handler of everything: API, health, documents, console.
func (s *Server) Handler() http.Handler { return s.outer() }

// Run carries the audit to the database until ctx ends, and what is left of it after; and
// it polls the workflows that streams follow.
func (s *Server) Run(ctx context.Context) error {
	var polling sync.WaitGroup
	polling.Go(func() { s.followers.run(ctx, s) })
	polling.Go(func() { s.pulses.run(ctx, s) })
	polling.Go(func() { s.patience.run(ctx) })
	err := s.audit.run(ctx)
	polling.Wait()
	return err
}

// route registers every route. The order matters only for the console, which is last.
func (s *Server) route() error {
	s.router = mux.NewRouter()
	// Paths are matched as they were sent: a %2f is no separator, and // or /../ is not
	// cleaned into some other route.
	s.router.UseEncodedPath()
	s.router.SkipClean(true)
	s.router.NotFoundHandler = http.HandlerFunc(s.unknown)
	s.router.MethodNotAllowedHandler = s.router.NotFoundHandler

	cfg := huma.DefaultConfig("Porpoise", s.cfg.Version)
	cfg.Info.Description = "Workflows as graphs of tasks: author, start, watch, control."
	cfg.OpenAPIPath, cfg.DocsPath, cfg.SchemasPath = "", "", ""
	cfg.CreateHooks = nil // no $schema in bodies
	cfg.RejectUnknownQueryParameters = true
	cfg.Transformers = []huma.Transformer{addRequestID}
	cfg.Servers = []*huma.Server{{URL: s.cfg.BasePath + "/api/v1"}}
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token":   {Type: "http", Scheme: "bearer", Description: "An API token, from POST /tokens."},
		"session": {Type: "apiKey", In: "cookie", Name: sessionCookie, Description: "A browser that signed in with POST /session."},
	}
	s.below = s.router.PathPrefix(s.cfg.BasePath + "/api/v1").Subrouter()
	s.below.NotFoundHandler, s.below.MethodNotAllowedHandler = s.router.NotFoundHandler, s.router.MethodNotAllowedHandler
	s.api = humamux.New(s.below, cfg, humamux.WithRouteCustomizer(s.declare))

	s.startRoutes() // first: the router tries one route after the other, and this is the one that is called most
	s.projectRoutes()
	s.memberRoutes()
	s.taskGroupRoutes()
	s.projectParamRoutes()
	s.listenerRoutes()
	s.replyRoutes()
	s.secretRoutes()
	s.environmentRoutes()
	s.workflowRoutes()
	s.versionRoutes()
	s.validateRoutes()
	s.taskTypeRoutes()
	s.graphRoutes()
	s.diffRoutes()
	s.viewRoutes()
	s.draftRoutes()
	s.casesRoutes()
	s.cacheRoutes()
	s.artifactRoutes()
	s.parameterRoutes()
	s.trialRoutes()
	s.importRoutes()
	s.dateRoutes()
	s.cronRoutes()
	s.scheduleRoutes()
	s.calendarRoutes()
	s.backfillRoutes()
	s.gridRoutes()
	s.aroundRoutes()
	s.bulkRoutes()
	s.instanceRoutes()
	s.acknowledgeRoutes()
	s.controlRoutes()
	s.approvalRoutes()
	s.previewRoutes()
	s.explainRoutes()
	s.dependencyRoutes()
	s.waiterRoutes()
	s.liveTaskRoutes()
	s.valueRoutes()
	s.logRoutes()
	s.clusterRoutes()
	s.slotRoutes()
	s.rebalanceRoutes()
	s.pulseRoutes()
	s.underWayRoutes()
	s.settingRoutes()
	s.demoRoutes()
	s.workerRoutes()
	s.failoverRoutes()
	s.supervisorRoutes()
	s.holdRoutes()
	s.sessionRoutes()
	s.tokenRoutes()
	s.userRoutes()
	s.auditRoutes()
	s.aboutRoutes()
	s.setUpRoutes()
	s.sessionListRoutes()
	s.userSessionRoutes()
	s.overviewRoutes()
	s.lineageRoutes()
	s.resourceRoutes()
	s.streamRoutes()
	s.timerRoutes()
	s.healthRoutes()
	if err := s.docsRoutes(); err != nil {
		return err
	}
	s.consoleRoutes()
	return nil
}

// addRequestID puts the request's id into every problem that huma writes.
func addRequestID(c huma.Context, _ string, v any) (any, error) {
	p, ok := v.(*Problem)
	if !ok {
		return v, nil
	}
	q := *p
	q.RequestID = requestID(c.Context())
	return &q, nil
}

// at is the moment of a write, as the store keeps it.
func (s *Server) at() dag.Millis { return dag.MillisOf(s.now()) }
