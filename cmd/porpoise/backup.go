package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/sql"
)

// redrawCopy is how often the progress of a copy is drawn anew.
const redrawCopy = 100 * time.Millisecond

// storeConfig names the database that a backup is made of, or restored into.
type storeConfig struct {
	Database   string `key:"database" about:"mysql:USER:PASSWORD@tcp(HOST:PORT)/NAME, or sqlite:PATH; default the file in the data folder" secret:"yes"`
	Data       string `key:"data" about:"data folder of a standalone node, or that of the cluster's key"`
	ClusterKey string `key:"cluster-key" about:"file of the cluster's key, to see whether it fits; default DATA/cluster.key"`
}

// Check lists what is wrong.
func (s *storeConfig) Check() []error {
	wrong := checkData(s.Data)
	if s.Database != "" {
		wrong = append(wrong, (&database{Database: s.Database}).check()...)
	}
	return wrong
}

// storeOf loads the configuration and opens the database that it names, without a change to it.
func (c *cli) storeOf(cmd *cobra.Command, cfg *storeConfig, do func(ctx context.Context, p *parts) error) error {
	if err := load(cmd, "", cfg); err != nil {
		return err
	}
	log := logging{LogLevel: "warn"}
	return serveOnce(cmd.Context(), log, func(ctx context.Context, p *parts) error { return do(ctx, p) })
}

func (c *cli) backupCommand() *cobra.Command {
	cfg := &storeConfig{Data: "./porpoise-data"}
	cmd := &cobra.Command{
		Use:     "backup FILE",
		Short:   "Write everything in the database to a file, while the cluster works on",
		Long:    "Writes all rows, as they were at one moment, to a new file, and reads it back. The file can be restored into SQLite and into MySQL.\nThe cluster's key is not in it: keep that beside it.",
		Args:    cobra.ExactArgs(1),
		GroupID: "role",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.storeOf(cmd, cfg, func(ctx context.Context, p *parts) error { return c.backup(ctx, p, cfg, args[0]) })
		},
	}
	register(cmd.Flags(), cfg)
	return cmd
}

func (c *cli) backup(ctx context.Context, p *parts, cfg *storeConfig, file string) error {
	dsn, err := cfg.there()
	if err != nil {
		return err
	}
	if err := p.openStore(ctx, sql.Config{DSN: dsn}); err != nil {
		return err
	}
	show := c.copyProgress("backed up")
	b, err := p.store.Backup(ctx, file, version(), show.update)
	show.end()
	switch {
	case errors.Is(err, fs.ErrExist):
		return usagef("%s is there already: name a new file", file)
	case err != nil:
		return err
	}
	_, err = fmt.Fprintf(c.out, "cluster %s is in %s: %d rows of %d tables, read back and compared\nKeep the cluster's key beside it: without it nothing can be restored.\n",
		b.Cluster, file, b.Rows(), len(b.Tables))
	return err
}

// restoreCommand is two verbs in one word: a file becomes a database again, a version the newest.
func (c *cli) restoreCommand() *cobra.Command {
	ofVersion := c.restoreVersionCommand()
	cfg := &storeConfig{Data: "./porpoise-data"}
	cmd := &cobra.Command{
		Use:   "restore FILE | restore PROJECT/WORKFLOW VERSION",
		Short: "Fill an empty database from a backup; or save an older version of a workflow as the newest",
		Long: "With one argument: fills an empty database with all rows of a file that porpoise backup made, compares them, and begins the cluster's next generation. Every process of the cluster must be stopped.\n" +
			"With two: saves an older version's text as the newest version.",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: ofVersion.ValidArgsFunction,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return ofVersion.RunE(cmd, args)
			}
			return c.storeOf(cmd, cfg, func(ctx context.Context, p *parts) error { return c.restore(ctx, p, cfg, args[0]) })
		},
	}
	register(cmd.Flags(), cfg)
	cmd.Flags().AddFlagSet(ofVersion.Flags())
	return cmd
}

func (c *cli) restore(ctx context.Context, p *parts, cfg *storeConfig, file string) error {
	if _, err := os.Stat(file); err != nil {
		return &failure{code: exitUsage, err: err}
	}
	data, err := openData(cfg.Data)
	if err != nil {
		return err
	}
	p.data = data
	p.closing("data folder", data.Close)
	dsn, key := cfg.Database, cfg.ClusterKey
	if dsn == "" {
		dsn = "sqlite:" + data.file(databaseFile)
	}
	if key == "" {
		key = data.file(clusterKeyFile)
	}
	if err := p.openStore(ctx, sql.Config{DSN: dsn}); err != nil {
		return err
	}
	show := c.copyProgress("restored")
	b, err := p.store.Restore(ctx, file, show.update)
	show.end()
	switch {
	case errors.Is(err, sql.ErrNotEmpty), errors.Is(err, sql.ErrDamagedBackup), errors.Is(err, sql.ErrSchema):
		return &failure{code: exitUsage, err: err}
	case err != nil:
		return err
	}
	if p.cluster, err = p.store.Cluster(ctx); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "cluster %s is restored as generation %d: %d rows of %d tables, compared\n", b.Cluster, p.cluster.Generation, b.Rows(), len(b.Tables))
	if _, err := os.Stat(key); isMissing(err) {
		_, err = fmt.Fprintf(c.out, "Put the cluster's key to %s (mode 0600) before the first start.\n", key)
		return err
	}
	return p.openCluster(ctx, key)
}

// copying shows on a terminal how far a copy is.
type copying struct {
	c     *cli
	verb  string
	total int64
	table string
	rows  int64
	drawn time.Time
}

func (c *cli) copyProgress(verb string) *copying {
	if _, _, ok := terminal(c.err); !ok {
		return &copying{}
	}
	return &copying{c: c, verb: verb}
}

func (p *copying) update(table string, rows int64) {
	if p.c == nil {
		return
	}
	if table != p.table {
		p.total, p.table, p.rows = p.total+p.rows, table, 0
	}
	p.rows = rows
	if time.Since(p.drawn) >= redrawCopy {
		p.drawn = time.Now()
		fmt.Fprintf(p.c.err, "\r\x1b[K%d rows %s, %s", p.total+p.rows, p.verb, table)
	}
}

func (p *copying) end() {
	if p.c != nil {
		fmt.Fprint(p.c.err, "\r\x1b[K")
	}
}
