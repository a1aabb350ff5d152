package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

func (c *cli) environmentsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "environments PROJECT",
		Short: "List a project's environments: named sets of variables that its tasks take by name",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			items, err := cl.Environments(ctx, args[0])
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, e := range items {
				rows[i] = []string{e.Name, fmt.Sprint(len(e.Variables)), at(e.UpdatedAt), e.UpdatedBy, e.Description}
			}
			return c.show(items, []string{"ENVIRONMENT", "VARIABLES", "UPDATED", "BY", "DESCRIPTION"}, rows)
		}),
		ValidArgsFunction: c.completeProjectArg,
	}
	cmd.AddCommand(c.setEnvironmentCommand(), c.deleteEnvironmentCommand())
	return cmd
}

func (c *cli) setEnvironmentCommand() *cobra.Command {
	var description string
	cmd := &cobra.Command{
		Use:   "set PROJECT ENVIRONMENT [KEY=VALUE ...]",
		Short: "Make an environment, or give it exactly these variables",
		Args:  cobra.MinimumNArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			variables, err := parsePairs("variable", args[2:])
			if err != nil {
				return err
			}
			e, err := cl.PutEnvironment(ctx, args[0], args[1], variables, description)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(e)
			}
			_, err = fmt.Fprintf(c.out, "%s has %d variables\n", e.Name, len(e.Variables))
			return err
		}),
	}
	cmd.Flags().StringVar(&description, "description", "", "what it is for, for people")
	return cmd
}

func (c *cli) deleteEnvironmentCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete PROJECT ENVIRONMENT",
		Short: "Delete an environment; tasks that name it fail from then on",
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if err := cl.DeleteEnvironment(ctx, args[0], args[1]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.out, "environment %s is deleted\n", args[1])
			return err
		}),
	}
}
