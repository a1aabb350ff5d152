package apiserver

// role is what somebody may do, in order: each includes all before it.
type role uint8

const (
	roleNone role = iota
	roleViewer
	roleOperator
	roleEditor
	roleOwner
	roleAdmin
)

var roleNames = [...]string{roleNone: "none", roleViewer: "viewer", roleOperator: "operator", roleEditor: "editor", roleOwner: "owner", roleAdmin: "admin"}

// String returns the role's name, as in JSON and SQL.
func (r role) String() string { return roleNames[r] }

// parseRole reads a role's name; an unknown one is no right at all.
func parseRole(name string) role {
	for r, n := range roleNames {
		if n == name {
			return role(r)
		}
	}
	return roleNone
}

// principal is who asks: a user, by a session or by a token that may hold less than he does.
type principal struct {
	userID     int64
	name       string
	admin      bool
	mustChange bool
	roles      map[int64]role // by project

	session string // hash of the session, for sign-out; "" with a token
	tokenID int64
	most    role  // a token's own limit; roleAdmin for none
	project int64 // a token's only project; 0 for all
}

// isAdmin tells whether p may do what concerns the whole cluster.
func (p *principal) isAdmin() bool {
	return p != nil && p.admin && p.project == 0 && p.most >= roleAdmin
}

// role is what p may do in a project.
func (p *principal) role(projectID int64) role {
	if p == nil || p.project != 0 && p.project != projectID {
		return roleNone
	}
	has := p.roles[projectID]
	if p.admin {
		has = roleAdmin
	}
	return min(has, p.most)
}

// projects lists the projects that p may see; all says every one.
func (p *principal) projects() (ids []int64, all bool) {
	switch {
	case p == nil:
		return nil, false
	case p.project != 0:
		if p.role(p.project) >= roleViewer {
			ids = []int64{p.project}
		}
		return ids, false
	case p.admin:
		return nil, true
	}
	for id := range p.roles {
		ids = append(ids, id)
	}
	return ids, false
}
