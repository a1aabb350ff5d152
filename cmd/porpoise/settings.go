package main

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/registry"
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

// logging is how a process writes its log, to standard error.
type logging struct {
	LogLevel string `key:"log-level" about:"trace, debug, info, warn or error"`
	LogJSON  bool   `key:"log-json" about:"write the log as JSON lines"`
}

func (l *logging) check() []error {
	switch hclog.LevelFromString(l.LogLevel) {
	case hclog.Trace, hclog.Debug, hclog.Info, hclog.Warn, hclog.Error:
		return nil
	case hclog.NoLevel, hclog.Off:
	}
	return []error{fmt.Errorf("log-level: %q is not trace, debug, info, warn or error", l.LogLevel)}
}

// logger makes the process's log; role is its first name.
func (l *logging) logger(role string) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: role, Level: hclog.LevelFromString(l.LogLevel), JSONFormat: l.LogJSON, Output: os.Stderr, TimeFormat: "2006-01-02T15:04:05.000Z07:00"})
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

// standaloneConfig is everything about porpoise standalone.
type standaloneConfig struct {
	logging
	web
	Data       string        `key:"data" about:"folder of everything that is kept; one process at a time"`
	RPC        string        `key:"rpc" about:"address for further workers; port 0 is any"`
	Advertise  string        `key:"advertise" about:"host:port under which further workers reach it; default the host's name and rpc's port"`
	EtcdListen string        `key:"etcd-listen" about:"IP address and port of the registry for further workers (mutual TLS); none when empty"`
	Slots      int           `key:"slots" about:"attempts that run at once"`
	DrainFor   time.Duration `key:"drain-for" about:"how long Ctrl-C waits for running tasks"`
	Relaxed    bool          `key:"relaxed" about:"answer before a commit is on the disk: a power loss may lose the last ones"`
}

func defaultStandalone() *standaloneConfig {
	return &standaloneConfig{
		logging: logging{LogLevel: "info"}, web: web{HTTP: "127.0.0.1:8080"}, Data: "./porpoise-data", RPC: "127.0.0.1:0",
		Slots: defaultSlots(), DrainFor: standaloneDrain,
	}
}

func defaultSlots() int { return max(minSlots, slotsPerCore*runtime.NumCPU()) }

// Check lists what is wrong.
func (c *standaloneConfig) Check() []error {
	wrong := append(c.logging.check(), c.web.check()...)
	wrong = append(wrong, checkData(c.Data)...)
	wrong = append(wrong, checkSlots(c.Slots)...)
	wrong = append(wrong, checkDrain(c.DrainFor)...)
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
	Database   string `key:"database" about:"mysql:USER:PASSWORD@tcp(HOST:PORT)/NAME, or sqlite:PATH" secret:"yes"`
	ClusterKey string `key:"cluster-key" about:"file of the cluster's key, the same on every master and apiserver; default DATA/cluster.key"`
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
	Weight int `key:"weight" about:"share of the command slots, beside the other masters'"`
}

func defaultMaster() *masterConfig {
	return &masterConfig{logging: logging{LogLevel: "info"}, node: node{Data: "./porpoise-master"}, listener: listener{RPC: "0.0.0.0:7070"}, Weight: 1}
}

// maxWeight bounds how uneven masters may be: with 256 slots more makes no difference.
const maxWeight = 100

// Check lists what is wrong.
func (c *masterConfig) Check() []error {
	wrong := append(c.logging.check(), c.node.check()...)
	wrong = append(wrong, c.listener.check()...)
	wrong = append(wrong, c.database.check()...)
	wrong = append(wrong, c.etcdAccess.check()...)
	if c.Weight < 1 || c.Weight > maxWeight {
		wrong = append(wrong, fmt.Errorf("weight: %d is not within 1 and %d", c.Weight, maxWeight))
	}
	return wrong
}

// workerConfig is everything about porpoise worker.
type workerConfig struct {
	logging
	node
	etcdAccess
	Masters       []string      `key:"masters" about:"masters to join by; afterwards the registry tells where they are"`
	JoinToken     string        `key:"join-token" about:"lets a new node in (porpoise token join worker)" secret:"yes"`
	JoinTokenFile string        `key:"join-token-file" about:"file that holds the join token"`
	Groups        []string      `key:"groups" about:"worker groups that this worker serves"`
	Slots         int           `key:"slots" about:"attempts that run at once"`
	DrainFor      time.Duration `key:"drain-for" about:"how long a stop waits for running tasks"`
	KeepTasks     bool          `key:"keep-tasks" about:"leave running tasks to the runner at a stop, for the next start to adopt"`
}

func defaultWorker() *workerConfig {
	return &workerConfig{
		logging: logging{LogLevel: "info"}, node: node{Data: "./porpoise-worker"}, Groups: []string{"default"},
		Slots: defaultSlots(), DrainFor: workerDrain,
	}
}

// Check lists what is wrong.
func (c *workerConfig) Check() []error {
	wrong := append(c.logging.check(), c.node.check()...)
	wrong = append(wrong, c.etcdAccess.check()...)
	wrong = append(wrong, checkSlots(c.Slots)...)
	wrong = append(wrong, checkDrain(c.DrainFor)...)
	if len(c.Groups) == 0 {
		wrong = append(wrong, fmt.Errorf("groups: name at least one"))
	}
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
}

func defaultAPIServer() *apiserverConfig {
	return &apiserverConfig{
		logging: logging{LogLevel: "info"}, node: node{Data: "./porpoise-apiserver"}, web: web{HTTP: "127.0.0.1:8080"},
		listener: listener{RPC: "0.0.0.0:7071"},
	}
}

// Check lists what is wrong.
func (c *apiserverConfig) Check() []error {
	wrong := append(c.logging.check(), c.node.check()...)
	wrong = append(wrong, c.web.check()...)
	wrong = append(wrong, c.listener.check()...)
	wrong = append(wrong, c.database.check()...)
	return append(wrong, c.etcdAccess.check()...)
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
