package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

func (c *cli) artifactsCommand() *cobra.Command {
	var attempt int
	cmd := &cobra.Command{
		Use:   "artifacts INSTANCE TASK [NAME]",
		Short: "List the files that a task has left, or print one",
		Long: `List the files that a task has left as its artifacts, or write one of them to the standard output,
byte for byte. They are those of the latest attempt that has left some.`,
		Args: cobra.RangeArgs(2, 3),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if attempt < 0 {
				return usagef("--attempt %d: attempts count from 1", attempt)
			}
			number, files, err := artifactsOf(ctx, cl, args[0], args[1], attempt)
			if err != nil {
				return err
			}
			if len(args) == 3 {
				return cl.DownloadArtifact(ctx, c.out, args[0], args[1], number, args[2])
			}
			if c.output == "json" {
				return c.json(files)
			}
			rows := make([][]string, 0, len(files))
			for _, f := range files {
				rows = append(rows, []string{f.Name, fmt.Sprint(f.Size), f.SHA256})
			}
			return table(c.out, []string{"NAME", "SIZE", "SHA256"}, rows)
		}),
	}
	cmd.Flags().IntVar(&attempt, "attempt", 0, "which attempt; 0 is the latest that has left artifacts")
	return cmd
}

// artifactsOf lists the artifacts of an attempt, of the latest that has some where attempt is 0.
func artifactsOf(ctx context.Context, cl *client.Client, id, task string, attempt int) (number int, files []client.Artifact, err error) {
	if attempt > 0 {
		files, err = cl.Artifacts(ctx, id, task, attempt)
		return attempt, files, err
	}
	attempts, err := cl.Attempts(ctx, id, task)
	for _, a := range attempts {
		if len(a.Artifacts) > 0 && a.Number > number {
			number, files = a.Number, a.Artifacts
		}
	}
	if err == nil && number == 0 {
		err = &failure{code: exitRefused, err: fmt.Errorf("task %s has left no artifacts", task)}
	}
	return number, files, err
}
