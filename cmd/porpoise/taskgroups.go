package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

func (c *cli) taskGroupsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "task-groups PROJECT [GROUP]",
		Short: "List a project's task groups, or show who has the places of one and who waits",
		Args:  cobra.RangeArgs(1, 2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if len(args) == 2 {
				g, err := cl.TaskGroup(ctx, args[0], args[1])
				if err != nil {
					return err
				}
				return c.showTaskGroup(g)
			}
			items, err := cl.TaskGroups(ctx, args[0])
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, g := range items {
				rows[i] = []string{g.Name, fmt.Sprint(g.Size), fmt.Sprint(g.Used), fmt.Sprint(g.Waiting), g.Description}
			}
			return c.show(items, []string{"TASK GROUP", "SIZE", "USED", "WAITING", "DESCRIPTION"}, rows)
		}),
		ValidArgsFunction: c.completeProjectArg,
	}
	cmd.AddCommand(c.setTaskGroupCommand(), c.deleteTaskGroupCommand(), c.forceTaskCommand())
	return cmd
}

// showTaskGroup prints the tasks of a group in the order of their turn.
func (c *cli) showTaskGroup(g client.TaskGroupDetail) error {
	if c.output != "json" {
		if _, err := fmt.Fprintf(c.out, "%s: %d of %d places are taken, %d tasks wait\n", g.Name, g.Used, g.Size, g.Waiting); err != nil {
			return err
		}
	}
	rows := make([][]string, len(g.Tasks))
	for i, t := range g.Tasks {
		has := "has its places"
		switch {
		case t.Waiting:
			has = "waits"
		case t.Forced:
			has = "has them by force"
		}
		rows[i] = []string{t.InstanceID, t.Workflow, t.Task, t.State, has, fmt.Sprint(t.Weight), at(t.ReadyAt)}
	}
	return c.show(g, []string{"INSTANCE", "WORKFLOW", "TASK", "STATE", "PLACES", "WEIGHT", "READY"}, rows)
}

func (c *cli) setTaskGroupCommand() *cobra.Command {
	var size int
	var description string
	cmd := &cobra.Command{
		Use:   "set PROJECT GROUP",
		Short: "Make a task group, or change its size at once",
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			g, err := cl.PutTaskGroup(ctx, args[0], args[1], size, description)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(g)
			}
			_, err = fmt.Fprintf(c.out, "%s has %d places, %d are taken, %d tasks wait\n", g.Name, g.Size, g.Used, g.Waiting)
			return err
		}),
	}
	cmd.Flags().IntVar(&size, "size", 0, "how many places there are; 0 gives none")
	cmd.Flags().StringVar(&description, "description", "", "what it is for, for people")
	_ = cmd.MarkFlagRequired("size")
	return cmd
}

func (c *cli) deleteTaskGroupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete PROJECT GROUP",
		Short: "Delete a task group that no task uses",
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if err := cl.DeleteTaskGroup(ctx, args[0], args[1]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.out, "task group %s is deleted\n", args[1])
			return err
		}),
	}
}

func (c *cli) forceTaskCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "force PROJECT GROUP INSTANCE TASK",
		Short: "Give a waiting task its places, whatever the group has left",
		Args:  cobra.ExactArgs(4),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			g, err := cl.ForceTask(ctx, args[0], args[1], args[2], args[3])
			if err != nil {
				return err
			}
			return c.showTaskGroup(g)
		}),
	}
}
