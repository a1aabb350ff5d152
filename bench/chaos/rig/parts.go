package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/porpoise/porpoise/bench/chaos/proxy"
	"github.com/porpoise/porpoise/bench/site"
)

// startStores brings up etcd and the database.
func (r *Rig) startStores(ctx context.Context) error {
	program, err := r.helper(ctx, "bench/etcd")
	if err != nil {
		return err
	}
	var cluster []string
	peers := map[string]string{}
	for _, name := range r.etcds() {
		if r.Endpoints[name], err = r.address(ctx); err != nil {
			return err
		}
		if peers[name], err = r.address(ctx); err != nil {
			return err
		}
		cluster = append(cluster, name+"=http://"+peers[name])
		r.Registry = append(r.Registry, r.Endpoints[name])
	}
	for _, name := range r.etcds() {
		p, err := r.site.Launch(ctx, name, site.Program{Path: program, Args: []string{
			"-dir", filepath.Join(r.site.Dir, name), "-listen", r.Endpoints[name], "-name", name, "-peer", peers[name],
			"-cluster", strings.Join(cluster, ","),
		}})
		if err != nil {
			return err
		}
		r.track(name, p)
	}
	if r.SQLite {
		r.Path = filepath.Join(r.site.Dir, "porpoise.db")
		return nil
	}
	if r.MariaDB, err = site.StartMariaDB(ctx, r.DatabaseIn); err != nil {
		return err
	}
	r.site.OnStop(r.MariaDB.Stop)
	return r.createDatabase(ctx)
}

// server is the database server's address.
func (r *Rig) server() (string, error) {
	cfg, err := mysql.ParseDSN(r.MariaDB.DSN)
	if err != nil {
		return "", fmt.Errorf("database server: %w", err)
	}
	return cfg.Addr, nil
}

// createDatabase makes the database and a user for each node, so that the audit can tell
// whose write a write is.
func (r *Rig) createDatabase(ctx context.Context) error {
	db, err := r.Database()
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	statements := []string{"CREATE DATABASE " + r.Prefix + " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"}
	for _, name := range append(r.Nodes, "migrate") {
		user := fmt.Sprintf("'%s'@'127.0.0.1'", name)
		statements = append(statements, "CREATE USER "+user, "GRANT ALL ON "+r.Prefix+".* TO "+user)
	}
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// link puts a proxy on every link.
func (r *Rig) link(ctx context.Context) error {
	add := func(from, to, target string, shared bool) error {
		key, who := from+">"+to, r.who
		if !shared {
			who = nil
		}
		l, err := proxy.Listen(ctx, target, who)
		if err != nil {
			return err
		}
		r.links[key] = l
		return nil
	}
	database := ""
	if !r.SQLite {
		var err error
		if database, err = r.server(); err != nil {
			return err
		}
	}
	for _, node := range r.Nodes {
		for _, member := range r.etcds() {
			if err := add(node, member, r.Endpoints[member], false); err != nil {
				return err
			}
		}
		role, _, _ := strings.Cut(node, "-")
		if role != "worker" && database != "" {
			if err := add(node, "database", database, false); err != nil {
				return err
			}
		}
		if role == "worker" {
			continue
		}
		var err error
		if r.Endpoints[node], err = r.address(ctx); err != nil {
			return err
		}
		if err := add("*", node, r.Endpoints[node], true); err != nil {
			return err
		}
		if role == "apiserver" {
			if r.Endpoints[node+"/http"], err = r.address(ctx); err != nil {
				return err
			}
			r.URLs = append(r.URLs, "http://"+r.Endpoints[node+"/http"])
		}
	}
	return nil
}

// databaseOf is the database as a node is told to find it.
func (r *Rig) databaseOf(node string) string {
	if r.SQLite {
		return "sqlite:" + r.Path
	}
	at, _ := r.server()
	if l := r.links[node+">database"]; l != nil {
		at = l.Address
	}
	return fmt.Sprintf("mysql:%s@tcp(%s)/%s", node, at, r.Prefix)
}

func (r *Rig) core(node string) []string {
	env := append([]string{
		"PORPOISE_DATABASE=" + r.databaseOf(node),
		"PORPOISE_CLUSTER_KEY=" + filepath.Join(r.site.Dir, "secrets", "cluster.key"),
	}, r.Env...)
	if node != "migrate" {
		env = append(env, "PORPOISE_ETCD="+r.etcdOf(node))
	}
	return env
}

func (r *Rig) etcdOf(node string) string {
	var list []string
	for _, member := range r.etcds() {
		list = append(list, r.links[node+">"+member].Address)
	}
	return strings.Join(list, ",")
}

func (r *Rig) migrate() site.Program {
	return site.Program{Path: r.Binary, Env: r.core("migrate"), Args: []string{
		"migrate", "--data", filepath.Join(r.site.Dir, "secrets"), "--worker-token", filepath.Join(r.site.Dir, "join", "worker.token"),
	}}
}

// program is how a node is started.
func (r *Rig) program(node string) site.Program {
	role, _, _ := strings.Cut(node, "-")
	p := site.Program{Path: r.Binary, Args: []string{role, "--node", node, "--data", r.Data(node), "--log-level", r.LogLevel}}
	switch role {
	case "master":
		p.Env = r.core(node)
		p.Args = append(append(p.Args, "--rpc", r.Endpoints[node], "--advertise", r.links["*>"+node].Address, "--listeners-reach", "any"), r.ExtraMaster...)
	case "apiserver":
		p.Env = r.core(node)
		p.Args = append(p.Args, "--rpc", r.Endpoints[node], "--advertise", r.links["*>"+node].Address, "--http", r.Endpoints[node+"/http"], "--listeners-reach", "any")
	case "worker":
		var masters []string
		for _, m := range r.masters() {
			masters = append(masters, r.links["*>"+m].Address)
		}
		p.Env = r.Env
		p.Args = append(append(p.Args, "--slots", fmt.Sprint(r.Slots), "--etcd", r.etcdOf(node), "--masters", strings.Join(masters, ","),
			"--join-token-file", filepath.Join(r.site.Dir, "join", "worker.token")), r.ExtraWorker...)
	}
	p.Args = append(p.Args, r.ExtraShare...)
	return p
}

// Data is a node's data folder.
func (r *Rig) Data(node string) string { return filepath.Join(r.site.Dir, node) }

// seen says whether all apiservers serve and see every node.
func (r *Rig) seen(ctx context.Context) error {
	for _, url := range r.URLs {
		for role, want := range map[string]int{"masters": r.Masters, "workers": r.Workers} {
			var got struct {
				Items []json.RawMessage `json:"items"`
			}
			if err := r.get(ctx, url+"/api/v1/cluster/"+role, &got); err != nil {
				return err
			}
			if len(got.Items) < want {
				return fmt.Errorf("%s sees %d of %d %s", url, len(got.Items), want, role)
			}
		}
	}
	return nil
}

func (r *Rig) get(ctx context.Context, url string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+r.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}
