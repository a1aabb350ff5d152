package apiserver

import (
	"context"
	"fmt"
	"net/http"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// AuditEntry says who did what to which object, from where, and how it ended.
type AuditEntry struct {
	ID      ID     `json:"id"`
	At      Time   `json:"at"`
	Actor   string `json:"actor" doc:"The user; empty where nobody was signed in."`
	Address string `json:"address"`
	Action  string `json:"action" doc:"The operation's id in this document."`
	Object  string `json:"object" doc:"The names in the path, such as project=sales workflow=daily."`
	Outcome string `json:"outcome" enum:"done,failed,refused"`
	Detail  string `json:"detail" doc:"The answer's status and the request's id."`
}

type listAudit struct {
	Paged
	Actor   string `query:"actor" maxLength:"512"`
	Action  string `query:"action" maxLength:"128" doc:"An operation's id, such as delete-workflow."`
	Outcome string `query:"outcome" enum:"done,failed,refused"`
	Object  string `query:"object" maxLength:"512" doc:"A part of the object. Filters look into the rows: a page may hold fewer than limit, even none, and still have a next_cursor."`
	From    string `query:"from" maxLength:"64" doc:"At or after, RFC 3339."`
	To      string `query:"to" maxLength:"64" doc:"Before, RFC 3339."`
}

type auditList struct{ Body List[AuditEntry] }

func (s *Server) auditRoutes() {
	add(s, spec{
		id: "list-audit", method: "GET", many: true, path: "/audit", tag: "users", summary: "List who changed what, the newest first",
		access: access{need: roleAdmin, object: noObject},
	}, s.listAudit)
}

func (s *Server) listAudit(ctx context.Context, in *listAudit) (*auditList, error) {
	f := sql.AuditFilter{Actor: in.Actor, Action: in.Action, Outcome: in.Outcome, Object: in.Object}
	var wrong []dag.FieldError
	for _, t := range []struct {
		field, text string
		to          *dag.Millis
	}{{"from", in.From, &f.After}, {"to", in.To, &f.Before}} {
		if t.text == "" {
			continue
		}
		m, err := parseTime(t.text)
		if err != nil {
			wrong = append(wrong, dag.FieldError{Field: t.field, Code: "invalid_time", Value: t.text, Message: err.Error()})
		}
		*t.to = m
	}
	if len(wrong) > 0 {
		return nil, problem(http.StatusBadRequest, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	rows, next, err := s.store.Audit(ctx, f, in.page())
	if err != nil {
		return nil, fmt.Errorf("list audit: %w", err)
	}
	return &auditList{Body: list(rows, next, func(r sql.AuditRow) AuditEntry {
		return AuditEntry{
			ID: ID(r.ID), At: Time(r.CreatedAt), Actor: r.Actor, Address: r.Address, Action: r.Action, Object: r.Object, Outcome: r.Outcome, Detail: r.Detail,
		}
	})}, nil
}
