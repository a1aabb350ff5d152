package apiserver

import "context"

// Setting is one key of a process's configuration, as it took effect.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value" doc:"Empty where it is a secret."`
	Source string `json:"source" enum:"flag,env,file,default"`
	Secret bool   `json:"secret,omitempty" doc:"Its value is not told, only that it has one."`
	About  string `json:"about"`
}

// Settings are those of one process.
type Settings struct {
	Node     string    `json:"node" doc:"The apiserver that answers: each process has its own."`
	Settings []Setting `json:"settings" nullable:"false"`
}

type settingsAnswer struct{ Body Settings }

func (s *Server) settingRoutes() {
	// Paths and addresses of machines are for those who run them.
	add(s, spec{
		id: "list-settings", method: "GET", path: "/cluster/settings", tag: "cluster", summary: "List this process's settings and where each comes from",
		access: access{need: roleAdmin, object: noObject},
	}, s.listSettings)
}

func (s *Server) listSettings(context.Context, *struct{}) (*settingsAnswer, error) {
	out := Settings{Node: s.cfg.Node, Settings: s.cfg.Settings}
	if out.Settings == nil {
		out.Settings = []Setting{}
	}
	return &settingsAnswer{Body: out}, nil
}
