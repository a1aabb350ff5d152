package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/worker/runner"
)

// runnerCommand is what a worker starts in a session of its own; it outlives the worker
// and is of no use by hand.
func (c *cli) runnerCommand() *cobra.Command {
	var data string
	var idle time.Duration
	log := logging{LogLevel: "info"}
	cmd := &cobra.Command{
		Use:    "runner",
		Short:  "Own the task processes of a worker (started by the worker)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if data == "" {
				return usagef("data: name the worker's folder")
			}
			if wrong := log.check(); len(wrong) > 0 {
				return &failure{code: exitUsage, err: errors.Join(wrong...)}
			}
			return runner.Main(cmd.Context(), runner.Config{DataDir: data, IdleFor: idle, Logger: log.logger("runner")})
		},
	}
	f := cmd.Flags()
	f.StringVar(&data, "data", "", "the worker's data folder")
	f.DurationVar(&idle, "idle-for", 0, "end after this long without a task and without a worker; 0 is 5m")
	f.StringVar(&log.LogLevel, "log-level", log.LogLevel, "trace, debug, info, warn or error")
	f.BoolVar(&log.LogJSON, "log-json", false, "write the log as JSON lines")
	return cmd
}
