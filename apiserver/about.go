package apiserver

import "context"

// About says what this installation is made of. Nothing of it is secret: addresses and names of databases are left out.
type About struct {
	Version   string `json:"version" doc:"Of the apiserver that answers."`
	Node      string `json:"node" doc:"The apiserver that answers."`
	Mode      string `json:"mode" doc:"standalone: one process has all parts; cluster: each part may have many."`
	Database  string `json:"database" doc:"sqlite or mysql, which is MariaDB, too."`
	Registry  string `json:"registry" doc:"Where processes find each other: etcd, or one that is embedded."`
	ClusterID string `json:"cluster_id"`
	Masters   int    `json:"masters"`
	Workers   int    `json:"workers"`
	Secrets   bool   `json:"secrets" doc:"This apiserver has a key to seal secrets by."`
}

// Made is what a process knows of itself, for About.
type Made struct{ Mode, Database, Registry, ClusterID string }

type aboutAnswer struct{ Body About }

func (s *Server) aboutRoutes() {
	add(s, spec{
		id: "about", method: "GET", path: "/about", tag: "cluster", summary: "Say what this installation is made of", access: access{need: roleAdmin, object: noObject},
	}, s.about)
}

func (s *Server) about(context.Context, *struct{}) (*aboutAnswer, error) {
	_, _, err := s.cfg.Keys.Seal(nil, nil)
	m := s.cfg.Made
	return &aboutAnswer{Body: About{
		Version: s.cfg.Version, Node: s.cfg.Node, Mode: m.Mode, Database: m.Database, Registry: m.Registry, ClusterID: m.ClusterID,
		Masters: len(s.cfg.Cluster.Masters()), Workers: len(s.cfg.Cluster.Workers()), Secrets: err == nil,
	}}, nil
}
