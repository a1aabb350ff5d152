package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// Me is who is signed in, and what he may do.
type Me struct {
	User               ID                `json:"user_id"`
	Name               string            `json:"name"`
	Admin              bool              `json:"admin"`
	MustChangePassword bool              `json:"must_change_password" doc:"Nothing else is open to the session before the password was changed."`
	SetUp              bool              `json:"set_up" doc:"It is the first admin's first start: POST /setup gives him a name and a password."`
	Roles              map[string]string `json:"roles" nullable:"false" doc:"The role by project name; an admin has every right without any."`
}

type signIn struct {
	Body struct {
		User     string `json:"user" minLength:"1" maxLength:"512"`
		Password string `json:"password" minLength:"1" maxLength:"1024"`
	}
}

type signedIn struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      Me
}

type cookieOnly struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

type meAnswer struct{ Body Me }

func (s *Server) sessionRoutes() {
	add(s, spec{id: "sign-in", method: "POST", path: "/session", tag: "session", summary: "Sign in with a password", body: jsonBody, access: access{open: true}}, s.signIn)
	add(s, spec{id: "sign-out", method: "DELETE", path: "/session", tag: "session", summary: "Sign out", early: true, access: access{object: noObject}}, s.signOut)
	add(s, spec{id: "get-session", method: "GET", path: "/session", tag: "session", summary: "Who is signed in", early: true, access: access{object: noObject}}, s.getMe)
	s.plain(spec{id: "sign-in-link", method: "GET", path: "/sign-in/{secret}", access: access{open: true}, produces: []string{"text/html", "application/json"}}, http.HandlerFunc(s.useLink))
}

// wrongSignIn is one answer for every way to fail, so that none tells which names exist.
func wrongSignIn() *Problem {
	return wrongField(http.StatusUnauthorized, "password", "wrong_sign_in", "", "user or password is wrong")
}

func (s *Server) signIn(ctx context.Context, in *signIn) (*signedIn, error) {
	c := callOf(ctx)
	name := dag.FoldName(in.Body.User)
	if wait := s.throttle.begin(name, c.ip); wait > 0 {
		return nil, tooMany(wait)
	}
	u, err := s.store.User(ctx, in.Body.User)
	if err != nil && !errors.Is(err, sql.ErrNotFound) {
		return nil, fmt.Errorf("read user: %w", err)
	}
	ok, err := s.checkPassword(ctx, u.PasswordHash, in.Body.Password)
	if err != nil {
		return nil, err
	}
	if !ok || u.ID == 0 || u.Disabled {
		return nil, wrongSignIn()
	}
	s.throttle.succeeded(name, c.ip)
	return s.welcome(ctx, u.ID)
}

// openSession always makes a new id: one that the browser brought along is not used,
// and the session that it had is closed.
func (s *Server) openSession(ctx context.Context, userID int64) (http.Cookie, error) {
	c := callOf(ctx)
	if c.who != nil && c.who.session != "" {
		if err := s.store.DeleteSession(ctx, c.who.session); err != nil && !errors.Is(err, sql.ErrNotFound) {
			return http.Cookie{}, fmt.Errorf("close the former session: %w", err)
		}
		s.known.forget()
	}
	secret, now := newSecret(), s.now()
	err := s.store.CreateSession(ctx, sql.Session{
		Hash: hashSecret(secret), UserID: userID, CreatedAt: dag.MillisOf(now), SeenAt: dag.MillisOf(now),
		IdleAt: dag.MillisOf(now.Add(sessionIdle)), ExpiresAt: dag.MillisOf(now.Add(sessionLife)), Address: c.ip, Agent: c.agent,
	})
	if err != nil {
		return http.Cookie{}, fmt.Errorf("open a session: %w", err)
	}
	return s.cookie(c, secret, now.Add(sessionLife)), nil
}

func (s *Server) cookie(c *call, value string, expires time.Time) http.Cookie {
	return http.Cookie{
		Name: sessionCookie, Value: value, Path: s.cfg.BasePath + "/", Expires: expires.UTC(),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: c.tls || s.cfg.SecureCookies,
	}
}

func (s *Server) signOut(ctx context.Context, _ *struct{}) (*cookieOnly, error) {
	c := callOf(ctx)
	if c.who.session == "" {
		return nil, problem(http.StatusConflict, "a token has no session: delete the token instead")
	}
	if err := s.store.DeleteSession(ctx, c.who.session); err != nil && !errors.Is(err, sql.ErrNotFound) {
		return nil, fmt.Errorf("close session: %w", err)
	}
	s.known.forget()
	return &cookieOnly{SetCookie: s.cookie(c, "", time.Unix(1, 0))}, nil
}

func (s *Server) getMe(ctx context.Context, _ *struct{}) (*meAnswer, error) {
	me, err := s.me(ctx, callOf(ctx).who)
	return &meAnswer{Body: me}, err
}

func (s *Server) me(ctx context.Context, who *principal) (Me, error) {
	me := Me{User: ID(who.userID), Name: who.name, Admin: who.isAdmin(), MustChangePassword: who.mustChange, Roles: map[string]string{}}
	if who.mustChange && who.admin {
		first, err := s.isFirstAdmin(ctx, who.userID)
		if err != nil {
			return Me{}, err
		}
		me.SetUp = first
	}
	for id := range who.roles {
		p, err := s.store.ProjectByID(ctx, id)
		if errors.Is(err, sql.ErrNotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return Me{}, fmt.Errorf("read project %d: %w", id, err)
		}
		if r := who.role(id); r > roleNone {
			me.Roles[p.Name] = r.String()
		}
	}
	return me, nil
}

// useLink turns a one-time link into a session and sends the browser to the console.
func (s *Server) useLink(w http.ResponseWriter, r *http.Request) {
	c := callOf(r.Context())
	w.Header().Set("Cache-Control", "no-store")
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || r.Method != http.MethodGet {
		// A page elsewhere must not be able to sign anybody in, or burn the link.
		writeProblem(w, r, problem(http.StatusForbidden, "open the link by hand"))
		return
	}
	if wait := s.throttle.begin("\x00link", c.ip); wait > 0 {
		writeProblem(w, r, tooMany(wait))
		return
	}
	link, err := s.store.TakeSignInLink(r.Context(), hashSecret(c.vars["secret"]), s.at())
	if err != nil {
		if errors.Is(err, sql.ErrNotFound) && strings.Contains(r.Header.Get("Accept"), "text/html") {
			// A person sees the sign-in, which says it in his language.
			http.Redirect(w, r, s.cfg.BasePath+"/?link=over", http.StatusSeeOther)
			return
		}
		if errors.Is(err, sql.ErrNotFound) {
			err = problem(http.StatusNotFound, "this link was used already or has run out: sign in with the password")
		}
		writeProblem(w, r, s.problemOf(r.Context(), err))
		return
	}
	s.throttle.succeeded("\x00link", c.ip)
	cookie, err := s.openSession(r.Context(), link.UserID)
	if err != nil {
		writeProblem(w, r, s.problemOf(r.Context(), err))
		return
	}
	http.SetCookie(w, &cookie)
	http.Redirect(w, r, s.cfg.BasePath+"/", http.StatusSeeOther)
}
