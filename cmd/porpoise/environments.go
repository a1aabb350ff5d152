package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

// environmentArgs takes the project out of the arguments, which are without one where the environment is of all.
type environmentArgs struct{ global bool }

func (a *environmentArgs) split(args []string) (project string, rest []string) {
	if a.global {
		return "", args
	}
	return args[0], args[1:]
}

// want demands at least so many arguments behind the project, or exactly as many.
func (a *environmentArgs) want(n int, exact bool) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		n := n
		if !a.global {
			n++
		}
		if exact {
			return cobra.ExactArgs(n)(cmd, args)
		}
		return cobra.MinimumNArgs(n)(cmd, args)
	}
}

func (c *cli) environmentsCommand() *cobra.Command {
	of := &environmentArgs{}
	cmd := &cobra.Command{
		Use:   "environments PROJECT",
		Short: "List a project's environments: named sets of variables that its tasks take by name",
		Args:  of.want(0, true),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			project, _ := of.split(args)
			items, err := cl.Environments(ctx, project)
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
	cmd.PersistentFlags().BoolVar(&of.global, "global", false, "those of all projects, which name no PROJECT: a project's own of the same name wins")
	cmd.AddCommand(c.setEnvironmentCommand(of), c.deleteEnvironmentCommand(of))
	return cmd
}

func (c *cli) setEnvironmentCommand(of *environmentArgs) *cobra.Command {
	var description string
	cmd := &cobra.Command{
		Use:   "set PROJECT ENVIRONMENT [KEY=VALUE ...]",
		Short: "Make an environment, or give it exactly these variables",
		Args:  of.want(1, false),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			project, rest := of.split(args)
			variables, err := parsePairs("variable", rest[1:])
			if err != nil {
				return err
			}
			e, err := cl.PutEnvironment(ctx, project, rest[0], variables, description)
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

func (c *cli) deleteEnvironmentCommand(of *environmentArgs) *cobra.Command {
	return &cobra.Command{
		Use:   "delete PROJECT ENVIRONMENT",
		Short: "Delete an environment; tasks that name it fail from then on",
		Args:  of.want(1, true),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			project, rest := of.split(args)
			if err := cl.DeleteEnvironment(ctx, project, rest[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.out, "environment %s is deleted\n", rest[0])
			return err
		}),
	}
}
