package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/porpoise/porpoise/apiserver"
)

// envPrefix starts the name of every variable that configures a role.
const envPrefix = "PORPOISE_"

// otherEnv are variables of that prefix that are no configuration of a role: those of
// the client verbs, those that a task finds in its environment, and those of the tests.
var otherEnv = []string{"SERVER", "TOKEN", "CONFIG", "ATTEMPT", "FENCE", "IDEMPOTENCY_KEY", "OUTPUT", "INPUTS", "TEST_*"}

// setting is one key of a part's configuration: the field it fills, how it is called in
// the file, on the command line and (with _ for -) in the environment, and what it is for.
type setting struct {
	key    string
	about  string
	secret bool // not printed
	field  reflect.Value
}

// settings lists the keys of a configuration struct by its tags: key, about and, for
// what is not to be printed, secret. Embedded structs count as if written out.
func settings(config any) []setting {
	return collect(reflect.ValueOf(config).Elem())
}

func collect(v reflect.Value) []setting {
	var list []setting
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous {
			list = append(list, collect(v.Field(i))...)
			continue
		}
		list = append(list, setting{key: f.Tag.Get("key"), about: f.Tag.Get("about"), secret: f.Tag.Get("secret") != "", field: v.Field(i)})
	}
	return list
}

// env is the setting's name in the environment.
func (s setting) env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(s.key, "-", "_"))
}

// part is a role's configuration. Check lists everything that is wrong with it.
type part interface {
	Check() []error
}

// register makes a flag of every setting. The flags show the defaults, which config
// holds at this moment.
func register(flags *pflag.FlagSet, config any) {
	for _, s := range settings(config) {
		about := s.about + " (" + s.env() + ")"
		switch p := s.field.Addr().Interface().(type) {
		case *string:
			flags.StringVar(p, s.key, *p, about)
		case *int:
			flags.IntVar(p, s.key, *p, about)
		case *bool:
			flags.BoolVar(p, s.key, *p, about)
		case *time.Duration:
			flags.DurationVar(p, s.key, *p, about)
		case *[]string:
			flags.StringSliceVar(p, s.key, *p, about)
		default:
			panic(fmt.Sprintf("setting %s has the type %T, which no flag has", s.key, p))
		}
	}
}

// load fills config: what the command line says wins over the environment, that over
// the file, that over the defaults. All that is wrong comes in one error, which names
// the keys, before anything is opened.
func load(cmd *cobra.Command, path string, config part) error {
	known := map[string]setting{}
	for _, s := range settings(config) {
		known[s.key] = s
	}
	set := given(cmd.Flags())
	var wrong []error
	if path == "" {
		path = os.Getenv(envPrefix + "CONFIG")
	}
	if path != "" {
		wrong = append(wrong, fromFile(cmd.Flags(), path, known, set)...)
	}
	wrong = append(wrong, fromEnv(cmd.Flags(), os.Environ(), known, set)...)
	if len(wrong) == 0 {
		wrong = config.Check()
	}
	if len(wrong) > 0 {
		return &failure{code: exitUsage, err: errors.Join(wrong...)}
	}
	return nil
}

// given are the flags that were set so far.
func given(flags *pflag.FlagSet) map[string]bool {
	set := map[string]bool{}
	flags.Visit(func(f *pflag.Flag) { set[f.Name] = true })
	return set
}

// inForce lists the settings of a configuration that was loaded, and says where each comes from; typed are those that
// the command line gave. The values of secrets stay here.
func inForce(flags *pflag.FlagSet, typed map[string]bool, config any) []apiserver.Setting {
	var list []apiserver.Setting
	for _, s := range settings(config) {
		source := "default"
		switch _, inEnv := os.LookupEnv(s.env()); {
		case typed[s.key]:
			source = "flag"
		case !flags.Changed(s.key): // neither a file nor the environment said anything
		case inEnv:
			source = "env"
		default:
			source = "file"
		}
		value := fmt.Sprint(s.field.Interface())
		if words, ok := reflect.TypeAssert[[]string](s.field); ok {
			value = strings.Join(words, ", ")
		}
		secret := s.secret && value != ""
		if secret {
			value = ""
		}
		list = append(list, apiserver.Setting{Key: s.key, Value: value, Source: source, Secret: secret, About: s.about})
	}
	return list
}

// fromFile reads the YAML file. Only keys that this role knows may be in it.
func fromFile(flags *pflag.FlagSet, path string, known map[string]setting, set map[string]bool) []error {
	k := koanf.New("\x00") // keys have no parts: a dot is a letter as any other
	if err := k.Load(file.Provider(path), yaml.Parser()); err != nil {
		return []error{fmt.Errorf("config %s: %w", path, err)}
	}
	var wrong []error
	for _, key := range k.Keys() {
		if _, ok := known[key]; !ok {
			wrong = append(wrong, fmt.Errorf("config %s: %s: no such key%s", path, key, nearest(key, known)))
			continue
		}
		if set[key] {
			continue
		}
		if err := flags.Set(key, text(k.Get(key))); err != nil {
			wrong = append(wrong, fmt.Errorf("config %s: %s: %w", path, key, err))
		}
	}
	return wrong
}

// text writes a value of the file as a flag would be written.
func text(value any) string {
	if items, ok := value.([]any); ok {
		words := make([]string, len(items))
		for i, item := range items {
			words[i] = fmt.Sprint(item)
		}
		return strings.Join(words, ",")
	}
	return fmt.Sprint(value)
}

// fromEnv reads the environment. A variable that no role knows is refused, as a key of
// the file would be; one of another role is passed over, since one file of variables
// may serve several.
func fromEnv(flags *pflag.FlagSet, environ []string, known map[string]setting, set map[string]bool) []error {
	byEnv := map[string]setting{}
	for _, s := range known {
		byEnv[s.env()] = s
	}
	var wrong []error
	slices.Sort(environ)
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, envPrefix) || reserved(name) {
			continue
		}
		s, ok := byEnv[name]
		if !ok {
			if !anyRole(name) {
				wrong = append(wrong, fmt.Errorf("%s: no role has such a setting", name))
			}
			continue
		}
		if set[s.key] {
			continue
		}
		if err := flags.Set(s.key, value); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
		}
	}
	return wrong
}

func reserved(name string) bool {
	rest := strings.TrimPrefix(name, envPrefix)
	for _, other := range otherEnv {
		if prefix, all := strings.CutSuffix(other, "*"); rest == other || (all && strings.HasPrefix(rest, prefix)) {
			return true
		}
	}
	return false
}

func anyRole(env string) bool {
	for _, r := range roleConfigs() {
		for _, s := range settings(r.config) {
			if s.env() == env {
				return true
			}
		}
	}
	return false
}

// nearest suggests a key that differs only in dashes, underscores or case.
func nearest(key string, known map[string]setting) string {
	plain := strings.NewReplacer("-", "", "_", "", ".", "")
	for k := range known {
		if strings.EqualFold(plain.Replace(k), plain.Replace(key)) {
			return "; is " + k + " meant?"
		}
	}
	return ""
}

// printConfig writes a configuration as the file that would give it, with secrets hidden.
func printConfig(w io.Writer, config any) error {
	for _, s := range settings(config) {
		value := fmt.Sprint(s.field.Interface())
		switch list, ok := reflect.TypeAssert[[]string](s.field); {
		case s.secret && value != "":
			value = "(hidden)"
		case ok:
			value = "[" + strings.Join(list, ", ") + "]"
		case s.field.Kind() == reflect.String:
			value = fmt.Sprintf("%q", value)
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", s.key, value); err != nil {
			return err
		}
	}
	return nil
}
