package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// completeTimeout bounds what a press of Tab may wait for the server.
const completeTimeout = time.Second

// completeProjects completes the flag --project.
func (c *cli) completeProjects(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("project", c.completeProjectArg) // fails only for a flag that does not exist
}

func (c *cli) completeProjectArg(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.projectNames(cmd.Context(), ""), cobra.ShellCompDirectiveNoFileComp
}

// completeWorkflows completes PROJECT/WORKFLOW: projects first, then the workflows of one.
func (c *cli) completeWorkflows(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	project, _, named := strings.Cut(typed, "/")
	if !named {
		return c.projectNames(cmd.Context(), "/"), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	cl, err := c.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTimeout)
	defer cancel()
	items, err := cl.Workflows(ctx, project)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := make([]string, len(items))
	for i, w := range items {
		names[i] = project + "/" + w.Name
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// projectNames lists the projects with a suffix; nothing where the server is away,
// because a completion has nowhere to complain.
func (c *cli) projectNames(ctx context.Context, suffix string) []string {
	cl, err := c.client()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completeTimeout)
	defer cancel()
	items, err := cl.Projects(ctx)
	if err != nil {
		return nil
	}
	names := make([]string, len(items))
	for i, p := range items {
		names[i] = p.Name + suffix
	}
	return names
}
