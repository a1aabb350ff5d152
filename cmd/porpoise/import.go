package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/internal/dolphin"
)

// importing is what an import was asked for.
type importing struct {
	file, out, report string
	apply, force      bool
	names             []string
	saving            saving
}

func (c *cli) importCommand() *cobra.Command {
	var how importing
	cmd := &cobra.Command{
		Use:   "import FILE|-",
		Short: "Bring workflows over from an export of DolphinScheduler 3.x",
		Long: `Bring workflows over from an export of DolphinScheduler 3.x.

Every field of the export is reported: what it became here, what needs a hand, and what
has no equivalent. Without --out and --apply nothing but the report is written. An export
knows environments, datasources, task groups and things of other projects by their codes
alone; --name gives them names, such as --name environment:12610318974999=prod. With
--apply the report goes to standard error, unless --report names a file.

It exits 0 where everything came over, 5 where something is left to do by hand.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			how.file = args[0]
			result, err := c.readExport(how)
			if err != nil {
				return err
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			return c.bringOver(ctx, result, how)
		},
	}
	f := cmd.Flags()
	f.StringVar(&how.out, "out", "", "folder to write the definitions to; files that are there stay, unless --force")
	f.StringVar(&how.report, "report", "", "file to write the report to, as JSON where it ends in .json")
	f.BoolVar(&how.apply, "apply", false, "save and publish the workflows, as apply does; nothing is saved while one of them is refused")
	f.StringArrayVar(&how.names, "name", nil, "name for a code, as KIND:CODE=NAME; kinds are project, workflow, task, environment, datasource, task_group")
	f.StringVarP(&how.saving.project, "project", "p", "default", "project to save in")
	f.StringVarP(&how.saving.message, "message", "m", "", "why, in up to 500 characters; versions show it")
	f.BoolVar(&how.force, "force", false, "overwrite files, and whatever version is there")
	how.saving.publish = true
	c.completeProjects(cmd)
	return cmd
}

// bringOver writes what was asked for. Nothing is saved on a server before the files are
// there, and nothing at all where a definition is refused.
func (c *cli) bringOver(ctx context.Context, result *dolphin.Result, how importing) error {
	var files []definitionFile
	if how.out != "" {
		var err error
		if files, err = writeDefinitions(result, how.out, how.force); err != nil {
			return err
		}
	}
	if err := c.writeReport(result, files, how); err != nil {
		return err
	}
	if how.apply {
		if n := result.Refused(); n > 0 {
			return usagef("%d workflows are refused as they are (see the report): nothing was saved", n)
		}
		if err := c.applyImported(ctx, result, how); err != nil {
			return err
		}
	}
	if result.Open() {
		return told(exitByHand)
	}
	return nil
}

// readExport reads the export and the names.
func (c *cli) readExport(how importing) (*dolphin.Result, error) {
	names := map[string]string{}
	for _, given := range how.names {
		code, name, ok := strings.Cut(given, "=")
		if !ok || name == "" || !dolphin.Coded(code) {
			return nil, usagef("--name %q: want KIND:CODE=NAME with one of the kinds %s", given, strings.Join(dolphin.Kinds(), ", "))
		}
		if errs := dag.CheckName("--name", name); len(errs) > 0 {
			return nil, usagef("--name %q: %s", given, errs[0].Message)
		}
		names[code] = name
	}
	r := c.in
	if how.file != "-" {
		f, err := os.Open(how.file)
		if err != nil {
			return nil, &failure{code: exitUsage, err: err}
		}
		defer func() { _ = f.Close() }()
		r = f
	}
	text, err := io.ReadAll(io.LimitReader(r, dolphin.MaxBytes+1))
	if err != nil {
		return nil, &failure{code: exitUsage, err: fmt.Errorf("%s: %w", how.file, err)}
	}
	result, err := dolphin.Import(text, dolphin.Options{Names: names})
	if err != nil {
		return nil, &failure{code: exitUsage, err: fmt.Errorf("%s: %w", how.file, err)}
	}
	return result, nil
}

// definitionFile is where a workflow was written to.
type definitionFile struct {
	Workflow string `json:"workflow"`
	File     string `json:"file"`
}

// writeDefinitions writes one file per workflow. Names of workflows are no file names: what
// is not a plain letter or digit becomes a line, and the code tells the rest apart.
func writeDefinitions(result *dolphin.Result, dir string, force bool) ([]definitionFile, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, &failure{code: exitUsage, err: err}
	}
	files := make([]definitionFile, len(result.Workflows))
	taken := map[string]bool{schedulesFile: true}
	var there []error
	for i := range result.Workflows {
		w := &result.Workflows[i]
		name := fileName(w.Name)
		if taken[name] || name == "" {
			name = strings.TrimPrefix(fmt.Sprintf("%s_%d", name, w.Code), "_")
		}
		for k := 2; taken[name]; k++ {
			name = fmt.Sprintf("%s_%d", fileName(w.Name), k)
		}
		taken[name] = true
		files[i] = definitionFile{w.Name, filepath.Join(dir, name+".yaml")}
		if _, err := os.Lstat(files[i].File); !force && !errors.Is(err, fs.ErrNotExist) {
			there = append(there, fmt.Errorf("%s is there: name another folder, or give --force", files[i].File))
		}
	}
	schedules, err := result.ScheduleFile()
	if err != nil {
		return nil, err
	}
	beside := filepath.Join(dir, schedulesFile+".yaml")
	if _, err := os.Lstat(beside); schedules != nil && !force && !errors.Is(err, fs.ErrNotExist) {
		there = append(there, fmt.Errorf("%s is there: name another folder, or give --force", beside))
	}
	if len(there) > 0 {
		return nil, &failure{code: exitUsage, err: errors.Join(there...)}
	}
	if schedules != nil {
		if err := os.WriteFile(beside, schedules, 0o644); err != nil {
			return nil, err
		}
	}
	for i := range files {
		if err := os.WriteFile(files[i].File, result.Workflows[i].YAML, 0o644); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// schedulesFile is where the schedules of all workflows are written to.
const schedulesFile = "schedules"

// maxFileName is well below what file systems take of one name.
const maxFileName = 100

func fileName(name string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		case r < utf8.RuneSelf:
			return '_'
		}
		return -1
	}, name)
	return strings.Trim(plain[:min(len(plain), maxFileName)], "_")
}

// imported is the report as JSON.
type imported struct {
	*dolphin.Result
	Files []definitionFile     `json:"files,omitempty"`
	Count map[dolphin.Kind]int `json:"count"`
}

// writeReport writes the report to its file, else prints it. Beside what apply prints it
// goes to standard error, so that each can be read alone.
func (c *cli) writeReport(result *dolphin.Result, files []definitionFile, how importing) error {
	asJSON := c.output == "json"
	if how.report != "" {
		asJSON = strings.EqualFold(filepath.Ext(how.report), ".json")
	}
	var b bytes.Buffer
	if asJSON {
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(imported{result, files, result.Count()}); err != nil {
			return err
		}
	} else if err := result.WriteText(&b); err != nil {
		return err
	}
	if how.report != "" {
		return os.WriteFile(how.report, b.Bytes(), 0o644)
	}
	out := c.out
	if how.apply {
		out = c.err
	}
	_, err := out.Write(b.Bytes())
	return err
}

// applyImported saves the workflows as apply does, and their schedules, paused.
func (c *cli) applyImported(ctx context.Context, result *dolphin.Result, how importing) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	sources := make([]source, len(result.Workflows))
	for i := range result.Workflows {
		w := &result.Workflows[i]
		sources[i] = source{name: w.Name, format: "yaml", text: w.YAML}
		var fields []dag.FieldError
		if sources[i].def, fields = dag.Parse(w.YAML, "yaml"); len(fields) > 0 {
			return &fieldErrors{source: w.Name, fields: fields}
		}
	}
	how.saving.force = how.force
	if err := c.apply(ctx, cl, sources, how.saving); err != nil {
		return err
	}
	return c.applyTimed(ctx, cl, result, how.saving.project)
}

// applyTimed saves the schedules. Those that are there stay paused or not, as they are.
func (c *cli) applyTimed(ctx context.Context, cl *client.Client, result *dolphin.Result, project string) error {
	text, err := result.ScheduleFile()
	if err != nil || text == nil {
		return err
	}
	doc, fields := schedule.Read(text, "yaml")
	if len(fields) > 0 {
		return &fieldErrors{source: schedulesFile, fields: fields}
	}
	there, err := cl.Schedules(ctx, client.ScheduleFilter{Project: project})
	if err != nil {
		return err
	}
	for i := range doc.Schedules {
		s := &doc.Schedules[i]
		if slices.ContainsFunc(there, func(t client.Schedule) bool { return t.Workflow == s.Workflow && t.Name == s.Name }) {
			s.Enabled = nil
		}
	}
	saved, err := cl.PutSchedules(ctx, project, doc.Schedules)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.err, "%d schedules are new, %d were there; the new ones are paused\n", saved.Created, saved.Changed)
	return err
}
