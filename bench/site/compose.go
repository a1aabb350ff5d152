package site

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// service is what is read of a service of the compose file.
type service struct {
	Image       string            `yaml:"image"`
	Command     []string          `yaml:"command"`
	Environment map[string]string `yaml:"environment"`
}

// compose holds the services that run the binary, by name.
type compose map[string]service

// ownImage is the image of the services that run the binary.
const ownImage = "porpoise:local"

// readCompose reads the services of docker-compose.yml that run Porpoise.
func readCompose(path string) (compose, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read compose file: %w", err)
	}
	var doc struct {
		Services map[string]service `yaml:"services"`
	}
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	own := compose{}
	for name, s := range doc.Services {
		if s.Image == ownImage {
			own[name] = s
		}
	}
	if len(own) == 0 {
		return nil, fmt.Errorf("read %s: no service has the image %s", path, ownImage)
	}
	return own, nil
}

// names lists the services of a role, in order.
func (c compose) names(role string) []string {
	var names []string
	for name, s := range c {
		if len(s.Command) > 0 && s.Command[0] == role {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// scale returns the services of a role, n of them; 0 is as many as the file has. What the
// file lacks is made from its last one, under a name that counts on.
func (c compose) scale(role string, n int) []string {
	names := c.names(role)
	if n == 0 || len(names) == 0 {
		return names
	}
	for last := len(names); len(names) < n; {
		name, pattern := fmt.Sprintf("%s-%d", role, len(names)+1), names[last-1]
		more := c[pattern]
		more.Command = slices.Clone(more.Command)
		for i, arg := range more.Command {
			more.Command[i] = strings.ReplaceAll(arg, pattern, name)
		}
		c[name] = more
		names = append(names, name)
	}
	return names[:n]
}

// arguments gives a service's command and environment with the places of the containers
// replaced by this machine's. The longest places are replaced first. A place of the
// containers that is left over is an error: it would be looked for in vain.
func (c compose) arguments(name string, places map[string]string) (args, env []string, err error) {
	s, ok := c[name]
	if !ok {
		return nil, nil, fmt.Errorf("the compose file has no service %s", name)
	}
	from := make([]string, 0, len(places))
	for place := range places {
		from = append(from, place)
	}
	slices.SortFunc(from, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, place := range from {
		pairs = append(pairs, place, places[place])
	}
	here := strings.NewReplacer(pairs...)
	var wrong []error
	for _, arg := range s.Command {
		args = append(args, here.Replace(arg))
	}
	for key, value := range s.Environment {
		env = append(env, key+"="+here.Replace(value))
	}
	slices.Sort(env)
	for _, text := range append(slices.Clone(args), env...) {
		if strings.Contains(text, "0.0.0.0") || strings.Contains(text, "${") {
			wrong = append(wrong, fmt.Errorf("service %s: %q has no place on this machine", name, text))
		}
	}
	return args, env, errors.Join(wrong...)
}
