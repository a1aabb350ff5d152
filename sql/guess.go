package sql

import "github.com/porpoise/porpoise/dag"

type User struct {
	ID           int64
	Name         string
	PasswordHash string
	Admin        bool
	Disabled     bool
	MustChange   bool
	CreatedAt    dag.Millis
	UpdatedAt    dag.Millis
}

type Token struct {
	ID        int64
	UserID    int64
	Name      string
	Hash      string
	Role      string
	ProjectID int64
	CreatedAt dag.Millis
	ExpiresAt dag.Millis
}

type Session struct {
	Hash      string
	UserID    int64
	CreatedAt dag.Millis
	SeenAt    dag.Millis
	IdleAt    dag.Millis
	ExpiresAt dag.Millis
	Address   string
	Agent     string
}

type SignInLink struct {
	Hash      string
	UserID    int64
	CreatedAt dag.Millis
	ExpiresAt dag.Millis
}

type Member struct {
	ProjectID int64
	UserID    int64
	User      string
	Role      string
}

type AuditRow struct {
	ID                                                                     int64
	CreatedAt                                                              dag.Millis
	Actor, Address, Action, Object, Outcome, Detail, BeforeHash, AfterHash string
}

type JoinToken struct {
	ID        int64
	Hash      string
	Role      string
	Node      string
	CreatedBy string
	CreatedAt dag.Millis
	ExpiresAt dag.Millis
	UsesLeft  int
}

type Draft struct {
	WorkflowID              int64
	Text, Format, UpdatedBy string
	UpdatedAt               dag.Millis
}

type Layout struct {
	WorkflowID int64
	Layout     string
	UpdatedAt  dag.Millis
}
