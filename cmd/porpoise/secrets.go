package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
)

// ofSecrets says whose secrets a verb is about: exactly one of the two is given.
type ofSecrets struct {
	project string
	all     bool
}

func (o *ofSecrets) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.project, "project", "p", "", "the project whose tasks see it")
	cmd.Flags().BoolVar(&o.all, "all-projects", false, "tasks of every project see it")
	cmd.MarkFlagsMutuallyExclusive("project", "all-projects")
	cmd.MarkFlagsOneRequired("project", "all-projects")
}

func (c *cli) secretsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "secrets", Short: "Keep values that tasks name instead of hold: ${secret.NAME}"}
	cmd.AddCommand(c.listSecretsCommand(), c.setSecretCommand(), c.deleteSecretCommand(), c.rotateKeyCommand(), c.newKeyCommand())
	return cmd
}

func (c *cli) listSecretsCommand() *cobra.Command {
	var of ofSecrets
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List secrets, without their values",
		Args:  cobra.NoArgs,
		RunE: c.calling(func(ctx context.Context, cl *client.Client, _ []string) error {
			items, err := cl.Secrets(ctx, of.project)
			if err != nil {
				return err
			}
			rows := make([][]string, len(items))
			for i, s := range items {
				seen := "the project"
				if s.AllProjects {
					seen = "all projects"
				}
				rows[i] = []string{s.Name, seen, s.Key, at(s.UpdatedAt), s.UpdatedBy, s.Description}
			}
			return c.show(items, []string{"SECRET", "SEEN BY", "KEY", "UPDATED", "BY", "DESCRIPTION"}, rows)
		}),
	}
	of.flags(cmd)
	return cmd
}

func (c *cli) setSecretCommand() *cobra.Command {
	var of ofSecrets
	var description string
	var exact bool
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "Make a secret, or give it another value",
		Long: `Make a secret, or give it another value.

The value is asked for on a terminal, and is otherwise what comes on standard input,
without the line end after it. It is never an argument, which others could read.`,
		Args: cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			value, err := c.secretValue(args[0], exact)
			if err != nil {
				return err
			}
			if wrong := dag.CheckSecret(args[0], value); len(wrong) > 0 {
				return usagef("%w", &fieldErrors{fields: wrong})
			}
			s, err := cl.PutSecret(ctx, of.project, args[0], value, description)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(s)
			}
			_, err = fmt.Fprintf(c.out, "secret %s is kept; tasks name it ${secret.%s}\n", s.Name, s.Name)
			return err
		}),
	}
	of.flags(cmd)
	cmd.Flags().StringVar(&description, "description", "", "what it is for, for people")
	cmd.Flags().BoolVar(&exact, "exact", false, "keep the line end after the value, too")
	return cmd
}

// secretValue asks for a value on a terminal, unseen, or reads all of standard input.
func (c *cli) secretValue(name string, exact bool) (string, error) {
	if f, is := c.in.(*os.File); is && term.IsTerminal(int(f.Fd())) {
		_, _ = fmt.Fprintf(c.err, "Value of %s (not shown): ", name)
		value, err := term.ReadPassword(int(f.Fd()))
		_, _ = fmt.Fprintln(c.err)
		if err != nil {
			return "", fmt.Errorf("read the value: %w", err)
		}
		return string(value), nil
	}
	value, err := io.ReadAll(io.LimitReader(c.in, dag.MaxSecret+3)) // one too many is seen as such, also before a line end
	if err != nil {
		return "", fmt.Errorf("read the value: %w", err)
	}
	if exact {
		return string(value), nil
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(value), "\n"), "\r"), nil
}

func (c *cli) deleteSecretCommand() *cobra.Command {
	var of ofSecrets
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a secret; tasks that name it fail from then on",
		Args:  cobra.ExactArgs(1),
		RunE: c.calling(func(ctx context.Context, cl *client.Client, args []string) error {
			if err := cl.DeleteSecret(ctx, of.project, args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.out, "secret %s is deleted\n", args[0])
			return err
		}),
	}
	of.flags(cmd)
	return cmd
}

func (c *cli) rotateKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rotate-key",
		Short: "Seal every secret by the first key of the server's key file",
		Long: `Seal every secret by the first key of the server's key file.

Before it, new-key puts a new key there; after it, the older keys may be deleted from the file.`,
		Args: cobra.NoArgs,
		RunE: c.calling(func(ctx context.Context, cl *client.Client, _ []string) error {
			r, err := cl.RotateSecretKey(ctx)
			if err != nil {
				return err
			}
			if c.output == "json" {
				return c.json(r)
			}
			_, err = fmt.Fprintf(c.out, "%d secrets are sealed anew; key %s seals them all\n", r.Count, r.Key)
			return err
		}),
	}
}

func (c *cli) newKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "new-key FILE",
		Short: "Put a new key on top of a key file on this machine; rotate-key then uses it",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			id, err := rpc.AddKey(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.out, "key %s seals from now on; those below it in %s still open\n", id, args[0])
			return err
		},
	}
}
