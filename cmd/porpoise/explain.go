package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

func (c *cli) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain INSTANCE [TASK]",
		Short: "Say why an instance or a task is as it is",
		Args:  cobra.RangeArgs(1, 2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			task := ""
			if len(args) == 2 {
				task = args[1]
			}
			e, err := cl.Explain(ctx, args[0], task)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(e)
			}
			return explainTree(c.out, e, 0)
		}),
	}
}

// explainTree prints a reason with its causes below it.
func explainTree(w io.Writer, e client.Explanation, depth int) error {
	line := printable(e.Text)
	if s := at(e.Since); s != "" {
		line += "  (since " + s + ")"
	}
	if depth > 0 {
		line = strings.Repeat("  ", depth-1) + "└ " + line
	}
	if _, err := fmt.Fprintln(w, line); err != nil {
		return err
	}
	for _, cause := range e.Causes {
		if err := explainTree(w, cause, depth+1); err != nil {
			return err
		}
	}
	return nil
}
