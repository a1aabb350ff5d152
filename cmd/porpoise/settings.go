package main

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/internal/egress"
	"github.com/porpoise/porpoise/internal/flood"
	"github.com/porpoise/porpoise/master"
	"github.com/porpoise/porpoise/master/supervise"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/worker/heartbeat"
)

const (
	// minSlots is what even a small machine offers: most tasks wait for something else
	// than this machine's processor.
	minSlots = 16
	// slotsPerCore is for the same reason more than one.
	slotsPerCore = 8
	// maxSlots bounds the processes of one worker.
	maxSlots = 4096
	// standaloneDrain is how long Ctrl-C waits for running tasks, of a person who looks on.
	standaloneDrain = 10 * time.Second
	// workerDrain is the same for a worker that a cluster manager stops.
	workerDrain = 60 * time.Second
	// maxDrain bounds it: nobody waits a day for a process to end.
	maxDrain = 24 * time.Hour
)

// logging is how a process can be looked into: its log, on standard error, and its profiles.
type logging struct {
	LogLevel string `key:"log-level" about:"trace, debug, info, warn or error"`
	LogJSON  bool   `key:"log-json" about:"write the log as JSON lines"`
	Pprof    string `key:"pprof" about:"loopback address that serves Go profiles of this process, such as 127.0.0.1:6060"`
}

func (l *logging) check() []error {
	var wrong []error
	switch hclog.LevelFromString(l.LogLevel) {
	case hclog.Trace, hclog.Debug, hclog.Info, hclog.Warn, hclog.Error:
	case hclog.NoLevel, hclog.Off:
		wrong = append(wrong, fmt.Errorf("log-level: %q is not trace, debug, info, warn or error", l.LogLevel))
	}
	if err := checkPprof(l.Pprof); err != nil {
		wrong = append(wrong, err)
	}
	return wrong
}

// logger makes the process's log; role is its first name.
func (l *logging) logger(role string) hclog.Logger {
	options := hclog.LoggerOptions{
		Name: role, Level: hclog.LevelFromString(l.LogLevel), JSONFormat: l.LogJSON, Output: os.Stderr, TimeFormat: "2006-01-02T15:04:05.000Z07:00",
		Mutex: &sync.Mutex{},
	}
	open := hclog.New(&options)
	options.Exclude = flood.New(func(message string, left int) {
		open.Warn("repeated lines left out", "message", message, "lines", left)
	}).Exclude
	return hclog.New(&options)
}

// web is how the API and the console are served.
type web struct {
	HTTP          string `key:"http" about:"address of the API and the console"`
	HTTPPlain     bool   `key:"http-plain" about:"serve plain HTTP beyond loopback: a proxy or a private network protects it"`
	TLSCert       string `key:"tls-cert" about:"certificate file for HTTPS"`
	TLSKey        string `key:"tls-key" about:"key file for HTTPS, readable by its owner only"`
	BasePath      string `key:"base-path" about:"where a proxy mounts Porpoise, such as /porpoise"`
	TrustProxy    bool   `key:"trust-proxy" about:"take the client's address from X-Forwarded-For"`
	SecureCookies bool   `key:"secure-cookies" about:"mark cookies Secure, because a proxy in front speaks TLS"`
}

func (w *web) check() []error {
	var wrong []error
	host, err := checkAddress("http", w.HTTP)
	if err != nil {
		wrong = append(wrong, err)
	}
	if (w.TLSCert == "") != (w.TLSKey == "") {
		wrong = append(wrong, fmt.Errorf("tls-cert, tls-key: give both or none"))
	}
	if err == nil && !loopback(host) && w.TLSCert == "" && !w.HTTPPlain {
		wrong = append(wrong, fmt.Errorf("http: %s is reachable from other machines: give tls-cert and tls-key, or http-plain if a proxy or a private network protects it", w.HTTP))
	}
	if w.BasePath != "" && (!strings.HasPrefix(w.BasePath, "/") || strings.HasSuffix(w.BasePath, "/")) {
		wrong = append(wrong, fmt.Errorf("base-path: %q must start with / and not end with it", w.BasePath))
	}
	return wrong
}

// checkAddress checks host:port, with a port from 0 (any) to 65535.
func checkAddress(key, address string) (host string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("%s: %q: want an address such as 127.0.0.1:8080", key, address)
	}
	if n, err := net.LookupPort("tcp", port); err != nil || n < 0 {
		return "", fmt.Errorf("%s: %q: %q is no port", key, address, port)
	}
	return host, nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// surges is how many starts an apiserver lets through.
type surges struct {
	SurgeStarts int `key:"surge-starts" about:"starts a second that projects with more than 100 get together beyond these, while another project starts less; 0 is no bound"`
}

const (
	// surgeStartsPerCore leave the p99 of another project's starts within twice of what it is alone: docs/performance.md.
	surgeStartsPerCore = 50
	maxSurgeStarts     = 1_000_000
)

func defaultSurges() surges { return surges{SurgeStarts: surgeStartsPerCore * runtime.NumCPU()} }

func (s *surges) check() []error {
	if s.SurgeStarts < 0 || s.SurgeStarts > maxSurgeStarts {
		return []error{fmt.Errorf("surge-starts: %d is not within 0 and %d", s.SurgeStarts, maxSurgeStarts)}
	}
	return nil
}

// standaloneConfig is everything about porpoise standalone.
type standaloneConfig struct {
	logging
	web
	beats
	outward
	history
	planning
	frequency
	surges
	Data       string        `key:"data" about:"folder of everything that is kept; one process at a time"`
	RPC        string        `key:"rpc" about:"address for further workers; port 0 is any"`
	Advertise  string        `key:"advertise" about:"host:port under which further workers reach it; default the host's name and rpc's port"`
	EtcdListen string        `key:"etcd-listen" about:"IP address and port of the registry for further workers (mutual TLS); none when empty"`
	Slots      int           `key:"slots" about:"attempts that run at once"`
	DrainFor   time.Duration `key:"drain-for" about:"how long Ctrl-C waits for running tasks"`
	Examples   bool          `key:"examples" about:"give a new node a project of examples, and run two of them once"`
	Relaxed    bool          `key:"relaxed" about:"answer before a commit is on the disk: a power loss may lose the last ones"`

	Demo        bool          `key:"demo" about:"run 3 masters and 3 workers, each a process that you may kill"`
	DemoRestart time.Duration `key:"demo-restart" about:"when a process of the demo that was killed is started again; 0 is never"`
}

func defaultStandalone() *standaloneConfig {
	return &standaloneConfig{
		logging: logging{LogLevel: "info"}, web: web{HTTP: "127.0.0.1:8080"}, beats: defaultBeats(), outward: defaultOutward(), history: defaultHistory(), Data: "./porpoise-data", RPC: "127.0.0.1:0",
		planning: defaultPlanning(), frequency: defaultFrequency(), surges: defaultSurges(),
		Slots: defaultSlots(), DrainFor: standaloneDrain, Examples: true, DemoRestart: demoRestart,
	}
}

func defaultSlots() int { return max(minSlots, slotsPerCore*runtime.NumCPU()) }

// Check lists what is wrong.
func (c *standaloneConfig) Check() []error {
	wrong := append(c.logging.check(), c.web.check()...)
	wrong = append(wrong, checkData(c.Data)...)
	wrong = append(wrong, checkSlots(c.Slots)...)
	wrong = append(wrong, c.beats.settings().Check(c.Slots)...)
	wrong = append(wrong, checkDrain(c.DrainFor)...)
	wrong = append(wrong, c.outward.check()...)
	wrong = append(wrong, c.history.check()...)
	wrong = append(wrong, c.planning.check()...)
	wrong = append(wrong, c.frequency.check()...)
	wrong = append(wrong, c.surges.check()...)
	if c.Demo && c.Relaxed {
		wrong = append(wrong, fmt.Errorf("demo, relaxed: the masters of a demo write like those of a cluster: give one of them"))
	}
	if c.DemoRestart < 0 || c.DemoRestart > maxDrain {
		wrong = append(wrong, fmt.Errorf("demo-restart: %s is not within 0s and %s", c.DemoRestart, maxDrain))
	}
	wrong = append(wrong, (&listener{RPC: c.RPC, Advertise: c.Advertise}).check()...)
	if c.EtcdListen != "" {
		if host, err := checkAddress("etcd-listen", c.EtcdListen); err != nil {
			wrong = append(wrong, err)
		} else if net.ParseIP(host) == nil {
			wrong = append(wrong, fmt.Errorf("etcd-listen: want an IP address and a port, such as 0.0.0.0:2379"))
		}
	}
	return wrong
}

func checkData(dir string) []error {
	if dir == "" {
		return []error{fmt.Errorf("data: name a folder")}
	}
	return nil
}

func checkSlots(n int) []error {
	if n < 1 || n > maxSlots {
		return []error{fmt.Errorf("slots: %d is not within 1 and %d", n, maxSlots)}
	}
	return nil
}

// beats is how a worker paces the heartbeats of its attempts.
type beats struct {
	Timeout  time.Duration `key:"heartbeat-timeout" about:"an attempt of which no master speaks for so long is asked about everywhere"`
	Cycle    time.Duration `key:"heartbeat-cycle" about:"every attempt beats once in it; it must fit twice into the timeout"`
	Period   time.Duration `key:"heartbeat-period" about:"one message per master in it"`
	Batch    int           `key:"heartbeat-batch" about:"attempts in one message; half of what cycle and period allow must hold all slots"`
	MaxRetry int           `key:"heartbeat-max-retry" about:"tries within one cycle after the first"`
}

func defaultBeats() beats {
	return beats{heartbeat.Timeout, heartbeat.Cycle, heartbeat.Period, heartbeat.BatchFor(defaultSlots()), heartbeat.MaxRetry}
}

func (b *beats) settings() heartbeat.Settings {
	return heartbeat.Settings{Timeout: b.Timeout, Cycle: b.Cycle, Period: b.Period, Batch: b.Batch, MaxRetry: b.MaxRetry, Send: heartbeat.Send}
}

func checkDrain(d time.Duration) []error {
	if d < 0 || d > maxDrain {
		return []error{fmt.Errorf("drain-for: %s is not within 0s and %s", d, maxDrain)}
	}
	return nil
}

// node is who a process of a cluster is.
type node struct {
	Data string `key:"data" about:"folder of this node's own files; one process at a time"`
	Node string `key:"node" about:"name of this node; without one it is made up once and kept in the data folder"`
}

func (n *node) check() []error {
	wrong := checkData(n.Data)
	if n.Node != "" {
		if err := registry.CheckName("node", n.Node); err != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

// etcdAccess is how the registry is reached.
type etcdAccess struct {
	Etcd         []string `key:"etcd" about:"etcd endpoints, host:port or URLs"`
	EtcdCA       string   `key:"etcd-ca" about:"authority that signed etcd's certificate"`
	EtcdCert     string   `key:"etcd-cert" about:"client certificate for etcd"`
	EtcdKey      string   `key:"etcd-key" about:"its key, readable by its owner only"`
	EtcdUser     string   `key:"etcd-user" about:"user in etcd"`
	EtcdPassword string   `key:"etcd-password" about:"that user's password" secret:"yes"`
}

func (e *etcdAccess) check() []error {
	var wrong []error
	if len(e.Etcd) == 0 {
		wrong = append(wrong, fmt.Errorf("etcd: name at least one endpoint"))
	}
	if (e.EtcdCert == "") != (e.EtcdKey == "") {
		wrong = append(wrong, fmt.Errorf("etcd-cert, etcd-key: give both or none"))
	}
	if e.EtcdPassword != "" && e.EtcdUser == "" {
		wrong = append(wrong, fmt.Errorf("etcd-user: etcd-password needs it"))
	}
	return wrong
}

// database is where the rows are, and the key that seals the cluster's secrets in them.
type database struct {
	Database      string `key:"database" about:"mysql:USER:PASSWORD@tcp(HOST:PORT)/NAME, or sqlite:PATH" secret:"yes"`
	ClusterKey    string `key:"cluster-key" about:"file of the cluster's key, the same on every master and apiserver; default DATA/cluster.key"`
	SecretKeyFile string `key:"secret-key-file" about:"file of the keys that seal secrets, the same on every master and apiserver; default DATA/secret-key"`
}

func (d *database) check() []error {
	kind, rest, _ := strings.Cut(d.Database, ":")
	switch {
	case d.Database == "":
		return []error{fmt.Errorf("database: name one, such as mysql:user:password@tcp(host:3306)/porpoise")}
	case (kind != "mysql" && kind != "sqlite") || rest == "":
		// The value holds a password: it is not repeated.
		return []error{fmt.Errorf("database: want mysql:USER:PASSWORD@tcp(HOST:PORT)/NAME or sqlite:PATH")}
	}
	return nil
}

// outward is where this process may call listeners.
type outward struct {
	ListenersReach string `key:"listeners-reach" about:"which addresses listeners, replies and timers may call: public, private (public and private ones) or any (also this machine's own)"`
}

// The values of listeners-reach.
const (
	reachPublic  = "public"
	reachPrivate = "private"
	reachAny     = "any"
)

func defaultOutward() outward { return outward{ListenersReach: reachPrivate} }

func (o *outward) check() []error {
	switch o.ListenersReach {
	case reachPublic, reachPrivate, reachAny:
		return nil
	}
	return []error{fmt.Errorf("listeners-reach: %q is not public, private or any", o.ListenersReach)}
}

func (o *outward) rule() egress.Rule {
	return egress.Rule{DenyLoopback: o.ListenersReach != reachAny, DenyPrivate: o.ListenersReach == reachPublic}
}

// history is how much of what is over is kept.
type history struct {
	KeepDays        int `key:"keep-days" about:"instances and backfills are deleted so many days after their end; 0 is never"`
	KeepPerWorkflow int `key:"keep-per-workflow" about:"of one workflow's instances the newest are kept; 0 is all"`
}

const (
	defaultKeepDays        = 90
	defaultKeepPerWorkflow = 100_000
	maxKeepDays            = 36_500
)

func defaultHistory() history { return history{defaultKeepDays, defaultKeepPerWorkflow} }

func (h *history) check() (wrong []error) {
	if h.KeepDays < 0 || h.KeepDays > maxKeepDays {
		wrong = append(wrong, fmt.Errorf("keep-days: %d is not within 0 and %d", h.KeepDays, maxKeepDays))
	}
	if h.KeepPerWorkflow < 0 {
		wrong = append(wrong, fmt.Errorf("keep-per-workflow: %d is less than 0", h.KeepPerWorkflow))
	}
	return wrong
}

func (h *history) retention() master.Retention {
	return master.Retention{Age: time.Duration(h.KeepDays) * 24 * time.Hour, Each: h.KeepPerWorkflow}
}

// listener is a gRPC server that other nodes call.
type listener struct {
	RPC       string `key:"rpc" about:"address for the other nodes (mutual TLS)"`
	Advertise string `key:"advertise" about:"host:port under which the others reach it; default the host's name and rpc's port"`
}

func (l *listener) check() []error {
	var wrong []error
	if _, err := checkAddress("rpc", l.RPC); err != nil {
		wrong = append(wrong, err)
	}
	if l.Advertise != "" {
		if host, err := checkAddress("advertise", l.Advertise); err != nil {
			wrong = append(wrong, err)
		} else if host == "" {
			wrong = append(wrong, fmt.Errorf("advertise: %q names no host", l.Advertise))
		}
	}
	return wrong
}

// masterConfig is everything about porpoise master.
type masterConfig struct {
	logging
	node
	listener
	database
	etcdAccess
	outward
	history
	planning
	Weight         int           `key:"weight" about:"share of the command slots, beside the other masters'"`
	SuperviseEvery time.Duration `key:"supervise-every" about:"how often the supervisor looks for what is stuck, while this master is it"`
}

func defaultMaster() *masterConfig {
	return &masterConfig{
		logging: logging{LogLevel: "info"}, node: node{Data: "./porpoise-master"}, listener: listener{RPC: "0.0.0.0:7070"}, outward: defaultOutward(),
		history: defaultHistory(), planning: defaultPlanning(), Weight: 1, SuperviseEvery: supervise.DefaultEvery,
	}
}

// maxWeight bounds how uneven masters may be: with 256 slots more makes no difference.
const maxWeight = 100

// maxSuperviseEvery bounds how long something stuck may go unseen.
const maxSuperviseEvery = time.Minute

// Check lists what is wrong.
func (c *masterConfig) Check() []error {
	wrong := append(c.logging.check(), c.node.check()...)
	wrong = append(wrong, c.listener.check()...)
	wrong = append(wrong, c.database.check()...)
	wrong = append(wrong, c.etcdAccess.check()...)
	wrong = append(wrong, c.outward.check()...)
	wrong = append(wrong, c.history.check()...)
	wrong = append(wrong, c.planning.check()...)
	if c.Weight < 1 || c.Weight > maxWeight {
		wrong = append(wrong, fmt.Errorf("weight: %d is not within 1 and %d", c.Weight, maxWeight))
	}
	if c.SuperviseEvery < time.Second || c.SuperviseEvery > maxSuperviseEvery {
		wrong = append(wrong, fmt.Errorf("supervise-every: %s is not within 1s and %s", c.SuperviseEvery, maxSuperviseEvery))
	}
	return wrong
}

// workerConfig is everything about porpoise worker.
type workerConfig struct {
	logging
	node
	etcdAccess
	beats
	Masters       []string      `key:"masters" about:"masters to join by; afterwards the registry tells where they are"`
	JoinToken     string        `key:"join-token" about:"lets a new node in (porpoise token join worker)" secret:"yes"`
	JoinTokenFile string        `key:"join-token-file" about:"file that holds the join token"`
	Groups        []string      `key:"groups" about:"worker groups that this worker serves"`
	Labels        []string      `key:"label" about:"NAME=VALUE that tasks may ask for by worker_labels; may be given again"`
	Slots         int           `key:"slots" about:"attempts that run at once"`
	DrainFor      time.Duration `key:"drain-for" about:"how long a stop waits for running tasks"`
	KeepTasks     bool          `key:"keep-tasks" about:"leave running tasks to the runner at a stop, for the next start to adopt"`
}

func defaultWorker() *workerConfig {
	return &workerConfig{
		logging: logging{LogLevel: "info"}, node: node{Data: "./porpoise-worker"}, beats: defaultBeats(), Groups: []string{"default"},
		Slots: defaultSlots(), DrainFor: workerDrain,
	}
}

// Check lists what is wrong.
func (c *workerConfig) Check() []error {
	wrong := append(c.logging.check(), c.node.check()...)
	wrong = append(wrong, c.etcdAccess.check()...)
	wrong = append(wrong, checkSlots(c.Slots)...)
	wrong = append(wrong, c.beats.settings().Check(c.Slots)...)
	wrong = append(wrong, checkDrain(c.DrainFor)...)
	if len(c.Groups) == 0 {
		wrong = append(wrong, fmt.Errorf("groups: name at least one"))
	}
	_, errs := labelsOf(c.Labels)
	wrong = append(wrong, errs...)
	for _, m := range c.Masters {
		if _, err := checkAddress("masters", m); err != nil {
			wrong = append(wrong, err)
		}
	}
	if c.JoinToken != "" && c.JoinTokenFile != "" {
		wrong = append(wrong, fmt.Errorf("join-token, join-token-file: give one of them"))
	}
	return wrong
}

// apiserverConfig is everything about porpoise apiserver.
type apiserverConfig struct {
	logging
	node
	web
	listener
	database
	etcdAccess
	outward
	frequency
	surges
}

func defaultAPIServer() *apiserverConfig {
	return &apiserverConfig{
		logging: logging{LogLevel: "info"}, node: node{Data: "./porpoise-apiserver"}, web: web{HTTP: "127.0.0.1:8080"},
		listener: listener{RPC: "0.0.0.0:7071"}, outward: defaultOutward(), frequency: defaultFrequency(), surges: defaultSurges(),
	}
}

// Check lists what is wrong.
func (c *apiserverConfig) Check() []error {
	wrong := append(c.logging.check(), c.node.check()...)
	wrong = append(wrong, c.web.check()...)
	wrong = append(wrong, c.listener.check()...)
	wrong = append(wrong, c.database.check()...)
	wrong = append(wrong, c.etcdAccess.check()...)
	wrong = append(wrong, c.outward.check()...)
	wrong = append(wrong, c.frequency.check()...)
	return append(wrong, c.surges.check()...)
}

// migrateConfig is everything about porpoise migrate.
type migrateConfig struct {
	logging
	database
	Data         string `key:"data" about:"folder for the admin's password and token and the cluster's key"`
	ClusterSlots int    `key:"cluster-slots" about:"command slots of a new cluster; it never changes afterwards"`
	WorkerToken  string `key:"worker-token" about:"file to write a join token for workers to, good for a day; none when empty"`
}

// maxClusterSlots bounds the layout's size in the registry.
const maxClusterSlots = 4096

func defaultMigrate() *migrateConfig {
	return &migrateConfig{logging: logging{LogLevel: "info"}, Data: "./porpoise-data", ClusterSlots: 256}
}

// Check lists what is wrong.
func (c *migrateConfig) Check() []error {
	wrong := append(c.logging.check(), c.database.check()...)
	wrong = append(wrong, checkData(c.Data)...)
	if c.ClusterSlots < 1 || c.ClusterSlots > maxClusterSlots {
		wrong = append(wrong, fmt.Errorf("cluster-slots: %d is not within 1 and %d", c.ClusterSlots, maxClusterSlots))
	}
	return wrong
}
