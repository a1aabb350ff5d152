package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

func (c *cli) projectsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "projects",
		Short: "List projects",
		Args:  cobra.NoArgs,
		RunE: c.calling(func(ctx context.Context, cl *client.Client, _ []string) error {
			items, err := cl.Projects(ctx)
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, p := range items {
				rows[i] = []string{p.Name, p.Role, at(p.CreatedAt), p.Description}
			}
			return c.show(items, []string{"PROJECT", "ROLE", "CREATED", "DESCRIPTION"}, rows)
		}),
	}
}

func (c *cli) workflowsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "workflows PROJECT",
		Short: "List a project's workflows",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			items, err := cl.Workflows(ctx, args[0])
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, w := range items {
				rows[i] = []string{w.Name, fmt.Sprint(w.Published), fmt.Sprint(w.Latest), at(w.UpdatedAt), w.Description}
			}
			return c.show(items, []string{"WORKFLOW", "PUBLISHED", "LATEST", "UPDATED", "DESCRIPTION"}, rows)
		}),
		ValidArgsFunction: c.completeProjectArg,
	}
}

func (c *cli) mastersCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "masters",
		Short: "List the masters that are alive",
		Args:  cobra.NoArgs,
		RunE: c.calling(func(ctx context.Context, cl *client.Client, _ []string) error {
			items, err := cl.Masters(ctx)
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, n := range items {
				rows[i] = []string{n.Name, n.Address, fmt.Sprint(n.Weight), n.Version, at(n.StartedAt)}
			}
			return c.show(items, []string{"MASTER", "ADDRESS", "WEIGHT", "VERSION", "STARTED"}, rows)
		}),
	}
}
