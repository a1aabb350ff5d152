package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

const (
	// maxDefinition is what the server takes of one definition.
	maxDefinition = 8 << 20
	// maxFiles bounds one apply: a folder named by mistake is found before it is read.
	maxFiles = 1000
	// stdinName is what errors of "-" are told under.
	stdinName = "stdin"
)

// source is one definition as it was read.
type source struct {
	name   string // the file, or stdinName
	format string // yaml or json
	text   []byte
	def    *dag.Definition
}

func (c *cli) applyCommand() *cobra.Command {
	var paths []string
	var project, message string
	var publish, force bool
	cmd := &cobra.Command{
		Use:   "apply -f FILE|DIR|-",
		Short: "Save workflows from files, and publish them",
		Long: `Save workflows from YAML or JSON files, and publish them.

Everything is checked before anything is saved: one wrong file and nothing changes.
A folder means every .yaml, .yml and .json file in it and below, but for cases to
test (etl.test.yaml). The project is made
if it is missing. Without --force, a workflow that somebody else saves at the same
moment is left as it is and reported.`,
		Args: cobra.NoArgs,
		RunE: c.calling(func(ctx context.Context, cl *client.Client, _ []string) error {
			sources, err := c.read(paths)
			if err != nil {
				return err
			}
			return c.apply(ctx, cl, sources, saving{project: project, publish: publish, force: force, message: message})
		}),
	}
	f := cmd.Flags()
	fileFlag(cmd, &paths)
	f.StringVarP(&project, "project", "p", "default", "project to save in")
	f.BoolVar(&publish, "publish", true, "publish what is saved; --publish=false only saves")
	f.StringVarP(&message, "message", "m", "", "why, in up to 500 characters; versions show it")
	f.BoolVar(&force, "force", false, "overwrite whatever version is there")
	c.completeProjects(cmd)
	return cmd
}

func (c *cli) validateCommand() *cobra.Command {
	var paths []string
	cmd := &cobra.Command{
		Use:   "validate -f FILE|DIR|-",
		Short: "Check workflows without a server",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			sources, err := c.read(paths)
			if err != nil {
				return err
			}
			type valid struct {
				File  string `json:"file"`
				Name  string `json:"name"`
				Tasks int    `json:"tasks"`
			}
			list := make([]valid, len(sources))
			rows := make([][]string, len(sources))
			for i, s := range sources {
				list[i] = valid{s.name, s.def.Name, len(s.def.Tasks)}
				rows[i] = []string{s.name, s.def.Name, fmt.Sprint(len(s.def.Tasks)), "valid"}
			}
			return c.show(list, []string{"FILE", "WORKFLOW", "TASKS", "RESULT"}, rows)
		},
	}
	fileFlag(cmd, &paths)
	return cmd
}

func fileFlag(cmd *cobra.Command, paths *[]string) {
	cmd.Flags().StringSliceVarP(paths, "file", "f", nil, "file, folder, or - for standard input; may be repeated")
}

// read reads and checks every definition under the given paths. All that is wrong in
// any of them comes in one error.
func (c *cli) read(paths []string) ([]source, error) {
	if len(paths) == 0 {
		return nil, usagef("say what to read: -f FILE, -f DIR or -f -")
	}
	var files []string
	for _, p := range paths {
		found, err := find(p)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if len(files) > maxFiles {
		return nil, usagef("%d files are more than the limit of %d", len(files), maxFiles)
	}
	var sources []source
	var wrong []error
	names := map[string]string{}
	for _, name := range files {
		s, err := c.readOne(name)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		key := dag.FoldName(s.def.Name)
		if other, ok := names[key]; ok {
			wrong = append(wrong, fmt.Errorf("%s: name: %q is also the name in %s", s.name, s.def.Name, other))
			continue
		}
		names[key] = s.name
		sources = append(sources, s)
	}
	if len(wrong) > 0 {
		for _, err := range wrong {
			fmt.Fprintln(c.err, err)
		}
		return nil, told(exitUsage)
	}
	return sources, nil
}

// find lists the files that a path stands for, in order of name.
func find(path string) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, &failure{code: exitUsage, err: err}
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p != path && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return filepath.SkipDir
			}
		case isCases(d.Name()):
		case d.Type().IsRegular() && slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(p))):
			files = append(files, p)
		}
		if len(files) > maxFiles {
			return fmt.Errorf("%s holds more than %d definitions", path, maxFiles)
		}
		return nil
	})
	if err != nil {
		return nil, &failure{code: exitUsage, err: err}
	}
	if len(files) == 0 {
		return nil, usagef("%s holds no .yaml, .yml or .json file", path)
	}
	return files, nil
}

func (c *cli) readOne(name string) (source, error) {
	s, err := c.readText(name)
	if err != nil {
		return s, err
	}
	def, fields := dag.Parse(s.text, s.format)
	if len(fields) > 0 {
		return s, &fieldErrors{source: s.name, fields: fields}
	}
	s.def = def
	return s, nil
}

// readText reads a file, or standard input where its name is -, without looking into it.
func (c *cli) readText(name string) (source, error) {
	s := source{name: name, format: "yaml"}
	r := c.in
	if name == "-" {
		s.name = stdinName
	} else {
		f, err := os.Open(name)
		if err != nil {
			return s, err
		}
		defer func() { _ = f.Close() }()
		r = f
		if strings.EqualFold(filepath.Ext(name), ".json") {
			s.format = "json"
		}
	}
	var err error
	if s.text, err = io.ReadAll(io.LimitReader(r, maxDefinition+1)); err != nil {
		return s, fmt.Errorf("%s: %w", s.name, err)
	}
	if len(s.text) > maxDefinition {
		return s, fmt.Errorf("%s: has more than %d MiB", s.name, maxDefinition>>20)
	}
	return s, nil
}

// saving is how apply saves.
type saving struct {
	project, message string
	publish, force   bool
}

// applied is what apply did with one definition.
type applied struct {
	File     string `json:"file"`
	Workflow string `json:"workflow"`
	Version  int    `json:"version"`
	Result   string `json:"result"`
}

// apply saves what has been checked. The server checks again; what it refuses stops the
// rest, and what was saved before is listed.
func (c *cli) apply(ctx context.Context, cl *client.Client, sources []source, how saving) error {
	if _, err := cl.Project(ctx, how.project); client.IsNotFound(err) {
		if _, err := cl.PutProject(ctx, how.project, ""); err != nil {
			return fmt.Errorf("create project %s: %w", how.project, err)
		}
	} else if err != nil {
		return err
	}
	var done []applied
	var rows [][]string
	var failed error
	for _, s := range sources {
		a, err := save(ctx, cl, s, how)
		if err != nil {
			failed = located(s, err)
			break
		}
		done = append(done, a)
		rows = append(rows, []string{how.project + "/" + a.Workflow, fmt.Sprint(a.Version), a.Result})
	}
	if len(done) > 0 || failed == nil {
		if err := c.show(done, []string{"WORKFLOW", "VERSION", "RESULT"}, rows); err != nil {
			return err
		}
	}
	return failed
}

// located names the file that a refused definition came from.
func located(s source, err error) error {
	var p *client.Problem
	if errors.As(err, &p) && len(p.Errors) > 0 && problemCode(p.Status) == exitUsage {
		return &fieldErrors{source: s.name, fields: p.Errors}
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

func save(ctx context.Context, cl *client.Client, s source, how saving) (applied, error) {
	a := applied{File: s.name, Workflow: s.def.Name}
	tag, err := cl.WorkflowTag(ctx, how.project, s.def.Name)
	if err != nil {
		return a, err
	}
	match := tag
	if tag != "" && how.force {
		match = "*"
	}
	saved, err := cl.SaveWorkflow(ctx, client.Save{
		Project: how.project, Workflow: s.def.Name, Format: s.format, Text: s.text, Match: match, Publish: how.publish, Message: how.message,
	})
	if err != nil {
		return a, err
	}
	a.Version = saved.Version
	switch {
	case tag == "" || saved.Created && saved.Version == 1: // it may have been a draft until now
		a.Result = "created"
	case saved.Created:
		a.Result = "updated"
	default:
		a.Result = "unchanged"
	}
	return a, nil
}
