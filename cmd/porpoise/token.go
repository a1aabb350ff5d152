package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

func (c *cli) tokenCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "token", Short: "Make, list and revoke tokens"}
	cmd.AddCommand(c.tokenCreate(), c.tokenList(), c.tokenRevoke(), c.tokenJoin())
	return cmd
}

func (c *cli) tokenCreate() *cobra.Command {
	var t client.NewToken
	var life time.Duration
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make an API token; its secret is printed this once",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			t.Name = args[0]
			if life > 0 {
				t.ExpiresAt = &client.Time{Time: time.Now().Add(life)}
			}
			made, err := cl.CreateToken(ctx, t)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(made)
			}
			fmt.Fprintf(c.err, "token %s (id %s) expires %s; it is not shown again:\n", printable(made.Name), made.ID, at(made.ExpiresAt))
			_, err = fmt.Fprintln(c.out, made.Secret)
			return err
		}),
	}
	f := cmd.Flags()
	f.StringVar(&t.Role, "role", "", "the most it may do: viewer, operator, editor, owner or admin")
	f.StringVarP(&t.Project, "project", "p", "", "the only project it may see")
	f.DurationVar(&life, "expires-in", 0, "how long it is good for, at most 366 days (default 90 days)")
	return cmd
}

func (c *cli) tokenList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List your tokens",
		Args:  cobra.NoArgs,
		RunE: c.calling(func(ctx context.Context, cl *client.Client, _ []string) error {
			items, err := cl.Tokens(ctx)
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, t := range items {
				rows[i] = []string{t.ID, t.Name, t.Role, t.Project, at(t.CreatedAt), at(t.ExpiresAt)}
			}
			return c.show(items, []string{"ID", "NAME", "ROLE", "PROJECT", "CREATED", "EXPIRES"}, rows)
		}),
	}
}

func (c *cli) tokenRevoke() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke one of your tokens",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if err := cl.RevokeToken(ctx, args[0]); err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(map[string]string{"revoked": args[0]})
			}
			_, err := fmt.Fprintf(c.out, "token %s is revoked\n", args[0])
			return err
		}),
	}
}

func (c *cli) tokenJoin() *cobra.Command {
	var t client.NewJoinToken
	var life time.Duration
	cmd := &cobra.Command{
		Use:   "join ROLE",
		Short: "Make a join token, by which a new master, worker or apiserver gets its certificate",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			t.Role, t.ExpiresIn = args[0], int(life/time.Second)
			made, err := cl.CreateJoinToken(ctx, t)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(made)
			}
			_, err = fmt.Fprintln(c.out, made.Token)
			return err
		}),
		ValidArgs: []string{"master", "worker", "apiserver"},
	}
	f := cmd.Flags()
	f.StringVar(&t.Node, "node", "", "the only node that may use it")
	f.IntVar(&t.Uses, "uses", 1, "how many nodes may use it")
	f.DurationVar(&life, "expires-in", time.Hour, "how long it is good for, at most 7 days")
	return cmd
}
