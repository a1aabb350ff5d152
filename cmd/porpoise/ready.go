package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// readyTimeout bounds the question: a health check has its own bound of seconds.
const readyTimeout = 3 * time.Second

// readyCommand is the health check of images and scripts, which have no curl.
func (c *cli) readyCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "ready",
		Short: "Say whether a server serves, or with --data whether a role runs",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if data != "" {
				if !held(filepath.Join(data, lockFile)) {
					return &failure{code: exitUnreachable, err: fmt.Errorf("no process holds %s", data)}
				}
				if !held(filepath.Join(data, servingFile)) {
					return &failure{code: exitUnreachable, err: fmt.Errorf("the process that holds %s is not ready: it starts, and waits for something; its log says for what", data)}
				}
				return nil
			}
			cl, err := c.client()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), readyTimeout)
			defer cancel()
			return cl.Ready(ctx)
		},
	}
	cmd.Flags().StringVar(&data, "data", "", "data folder of a role on this machine")
	return cmd
}

// held says whether a process holds the lock of a data folder.
func held(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
