package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/apiserver"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
)

// streams are the three files of a command; tests give their own.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// cli is what every verb shares.
type cli struct {
	streams
	server string
	token  string
	output string // table or json

	patience time.Duration // of waiting verbs

	settings []apiserver.Setting // of the role that runs
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, std streams) int {
	c := &cli{streams: std}
	root := c.root()
	root.SetArgs(args)
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	complain(std.err, err)
	return exitCode(err)
}

// interruptible ends ctx at Ctrl-C or TERM, for verbs that only wait. The roles have
// their own, because for them the first signal is not the end.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "porpoise",
		Short:         "Porpoise runs workflows: graphs of tasks, on one machine or a cluster.",
		Long:          "Porpoise runs workflows: graphs of tasks, on one machine or a cluster.\n\nBegin with: porpoise standalone\n\n" + exitHelp,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usagef("%w", err) })
	root.AddGroup(
		&cobra.Group{ID: "work", Title: "Work with workflows:"},
		&cobra.Group{ID: "cluster", Title: "Look at the cluster:"},
		&cobra.Group{ID: "role", Title: "Run Porpoise:"},
	)
	c.add(root, "work", c.applyCommand(), c.validateCommand(), c.testCommand(), c.importCommand(), c.versionsCommand(), c.diffCommand(), c.restoreCommand(), c.previewCommand(), c.startCommand(), c.scheduleCommand(), c.timerCommand(), c.backfillCommand(), c.instancesCommand(), c.tasksCommand(), c.logsCommand(), c.artifactsCommand(), c.explainCommand())
	c.add(root, "work", c.controlCommands()...)
	c.add(root, "work", c.approvalCommands()...)
	c.add(root, "cluster", c.projectsCommand(), c.workflowsCommand(), c.taskGroupsCommand(), c.listenersCommand(), c.calendarsCommand(), c.secretsCommand(), c.environmentsCommand(), c.cacheCommand(), c.workersCommand(), c.mastersCommand(), c.slotsCommand(), c.failoversCommand(), c.supervisorCommand(), c.recoveriesCommand(), c.holdCommand(), c.releaseCommand(), c.tokenCommand(), c.readyCommand())
	c.addRoles(root)
	root.AddCommand(c.backupCommand(), c.forgetRegistryCommand(), c.versionCommand())
	usageErrors(root)
	return root
}

// usageErrors makes a wrong number of arguments, and flags that don't go together, usage errors: cobra's own
// checks give plain ones. A verb that only groups others answers an unknown one with its help.
func usageErrors(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(check(cmd, args), cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups()); err != nil {
				return usagef("%s: %w", cmd.CommandPath(), err)
			}
			return nil
		}
	}
	if cmd.HasSubCommands() && cmd.RunE == nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("%s has no command %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
			}
			return nil
		}
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, sub := range cmd.Commands() {
		usageErrors(sub)
	}
}

// add registers verbs that talk to a server.
func (c *cli) add(root *cobra.Command, group string, verbs ...*cobra.Command) {
	for _, v := range verbs {
		v.GroupID = group
		f := v.PersistentFlags()
		f.StringVar(&c.server, "server", "", "address of the server (PORPOISE_SERVER; "+client.DefaultServer+")")
		f.StringVar(&c.token, "token", "", "token to call with (PORPOISE_TOKEN)")
		f.StringVarP(&c.output, "output", "o", "table", "table or json")
		if v.PersistentPreRunE == nil {
			v.PersistentPreRunE = func(*cobra.Command, []string) error { return c.checkOutput() }
		}
		root.AddCommand(v)
	}
}

func (c *cli) checkOutput() error {
	if c.output != "table" && c.output != "json" {
		return usagef("--output %q: want table or json", c.output)
	}
	return nil
}

// client makes the client that the flags and the environment ask for.
func (c *cli) client() (*client.Client, error) {
	server, token := c.server, c.token
	if server == "" {
		server = os.Getenv("PORPOISE_SERVER")
	}
	if token == "" {
		token = os.Getenv("PORPOISE_TOKEN")
	}
	cl, err := client.New(client.Config{Server: server, Token: strings.TrimSpace(token), Agent: "porpoise/" + version(), Patience: c.patience})
	if err != nil {
		return nil, &failure{code: exitUsage, err: err}
	}
	return cl, nil
}

// action is what a verb does once it has a client.
type action func(ctx context.Context, cl *client.Client, args []string) error

// calling makes a cobra function of an action, which Ctrl-C ends.
func (c *cli) calling(do action) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cl, err := c.client()
		if err != nil {
			return err
		}
		ctx, stop := interruptible(cmd.Context())
		defer stop()
		return do(ctx, cl, args)
	}
}
