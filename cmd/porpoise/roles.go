package main

import (
	"context"

	"github.com/spf13/cobra"
)

// role is one way to run Porpoise, with its configuration and what it does.
type role struct {
	name, short, long string
	config            part
	run               func(ctx context.Context, c *cli) error
}

// roleConfigs lists the roles, each with its defaults.
func roleConfigs() []role {
	standalone, master, worker, apiserver, migrate := defaultStandalone(), defaultMaster(), defaultWorker(), defaultAPIServer(), defaultMigrate()
	return []role{
		{
			"standalone", "Run everything in this process: the first thing to try", "",
			standalone, func(ctx context.Context, c *cli) error { return runStandalone(ctx, c, standalone) },
		},
		{
			"master", "Run a master: it takes starts and decides what runs when", "",
			master, func(ctx context.Context, c *cli) error { return runMaster(ctx, c, master) },
		},
		{
			"worker", "Run a worker: it runs tasks", "A worker runs tasks. It needs no port: it dials the masters that it finds in the registry.",
			worker, func(ctx context.Context, c *cli) error { return runWorker(ctx, c, worker) },
		},
		{
			"apiserver", "Run an apiserver: the API and the console", "",
			apiserver, func(ctx context.Context, c *cli) error { return runAPIServer(ctx, c, apiserver) },
		},
		{
			"migrate", "Make or update the schema, the first admin and the cluster's key", "",
			migrate, func(ctx context.Context, c *cli) error { return runMigrate(ctx, c, migrate) },
		},
	}
}

// addRoles registers the roles, config check with one verb for each of them, and the
// runner, which nobody starts by hand.
func (c *cli) addRoles(root *cobra.Command) {
	for _, r := range roleConfigs() {
		cmd := c.roleCommand(r, func(ctx context.Context) error { return r.run(ctx, c) })
		cmd.GroupID = "role"
		root.AddCommand(cmd)
	}
	config := &cobra.Command{Use: "config", Short: "Look at a role's configuration", GroupID: "role"}
	check := &cobra.Command{Use: "check", Short: "Check a role's configuration and print it, secrets hidden"}
	for _, r := range roleConfigs() {
		check.AddCommand(c.roleCommand(r, func(context.Context) error { return printConfig(c.out, r.config) }))
	}
	config.AddCommand(check)
	root.AddCommand(config, c.runnerCommand())
}

// roleCommand makes a command that loads a role's configuration before it does anything.
func (c *cli) roleCommand(r role, do func(ctx context.Context) error) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   r.name,
		Short: r.short,
		Long:  r.long,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			typed := given(cmd.Flags())
			if err := load(cmd, path, r.config); err != nil {
				return err
			}
			c.settings = inForce(cmd.Flags(), typed, r.config)
			return do(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "YAML file of these settings ("+envPrefix+"CONFIG)")
	register(cmd.Flags(), r.config)
	return cmd
}
