package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

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
				rate := ""
				if g.Rate != nil {
					rate = fmt.Sprintf("%d/%s", g.Rate.Tasks, g.Rate.Per)
				}
				rows[i] = []string{g.Name, fmt.Sprint(g.Size), rate, fmt.Sprint(g.Used), fmt.Sprint(g.Waiting), g.Description}
			}
			return c.show(items, []string{"TASK GROUP", "SIZE", "RATE", "USED", "WAITING", "DESCRIPTION"}, rows)
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
		if g.Rate != nil {
			if _, err := fmt.Fprintf(c.out, "%d of %d tasks have started within %s\n", g.Started, g.Rate.Tasks, g.Rate.Per); err != nil {
				return err
			}
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
	var wish client.TaskGroupWish
	var rate string
	cmd := &cobra.Command{
		Use:   "set PROJECT GROUP",
		Short: "Make a task group, or change its size and rate at once",
		Args:  cobra.ExactArgs(2),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			var err error
			if wish.Rate, err = parseRate(rate); err != nil {
				return err
			}
			g, err := cl.PutTaskGroup(ctx, args[0], args[1], wish)
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
	cmd.Flags().IntVar(&wish.Size, "size", 0, "how many places there are; 0 gives none")
	cmd.Flags().StringVar(&wish.Description, "description", "", "what it is for, for people")
	cmd.Flags().StringVar(&rate, "rate", "", "how many tasks may start in a time, such as 100/1m; without it there is no such limit")
	_ = cmd.MarkFlagRequired("size")
	return cmd
}

// parseRate reads a rate such as 100/1m; nil for none. The server checks its bounds.
func parseRate(text string) (*client.Rate, error) {
	if text == "" {
		return nil, nil
	}
	tasks, per, ok := strings.Cut(text, "/")
	n, err := strconv.Atoi(tasks)
	if !ok || err != nil {
		return nil, fmt.Errorf("--rate %q: want a number of tasks, a slash and a time, such as 100/1m", text)
	}
	return &client.Rate{Tasks: n, Per: per}, nil
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
	var reason string
	cmd := &cobra.Command{
		Use:   "force PROJECT GROUP INSTANCE TASK",
		Short: "Give a waiting task its places, whatever the group has left",
		Args:  cobra.ExactArgs(4),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			g, err := cl.ForceTask(ctx, args[0], args[1], args[2], args[3], reason)
			if err != nil {
				return err
			}
			return c.showTaskGroup(g)
		}),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for people")
	return cmd
}
