package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

// The exit codes, for scripts. They are part of the command line's contract.
const (
	exitOK          = 0
	exitFailed      = 1   // what was asked for ran and failed: an instance that ended other than success, a role that broke
	exitUsage       = 2   // wrong flags, configuration or input; nothing was done
	exitUnreachable = 3   // no server, or one that can't serve now: try again
	exitRefused     = 4   // the server said no: not found, not allowed, not possible in this state
	exitByHand      = 5   // import: it was done, and something is left to do by hand
	exitUnproven    = 6   // schedule prove: nothing is wrong, and not all could be compared
	exitInterrupted = 130 // ended by Ctrl-C, as shells have it
)

const exitHelp = `Exit codes:
  0    done
  1    it ran and failed (start --wait: the instance ended other than success)
  2    wrong flags, configuration or input; nothing was done
  3    the server cannot be reached or cannot serve now
  4    the server refused: not found, not allowed, or not possible in this state
  5    done, but something is left to do by hand (import)
  6    nothing is wrong, and not all could be compared (schedule prove)
  130  interrupted`

// failure is an error whose exit code is known. A nil err has been told already.
type failure struct {
	code int
	err  error
}

// Error is that of what failed.
func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit code %d", f.code)
	}
	return f.err.Error()
}

// Unwrap gives what failed.
func (f *failure) Unwrap() error { return f.err }

// usagef is an error of the caller's input.
func usagef(format string, args ...any) error {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// told is a failure of which everything has been printed.
func told(code int) error { return &failure{code: code} }

// fieldErrors are the wrong fields of one document.
type fieldErrors struct {
	source string // the file, "" where there is none
	fields []dag.FieldError
}

// Error lists the fields, one on a line: file:line:column: field: message.
func (f *fieldErrors) Error() string {
	lines := make([]string, len(f.fields))
	for i, fe := range f.fields {
		lines[i] = fieldLine(f.source, fe)
	}
	return strings.Join(lines, "\n")
}

func fieldLine(source string, fe dag.FieldError) string {
	var b strings.Builder
	if source != "" {
		b.WriteString(source)
		if fe.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", fe.Line, max(fe.Column, 1))
		}
		b.WriteString(": ")
	}
	if fe.Field != "" {
		b.WriteString(fe.Field + ": ")
	}
	b.WriteString(fe.Message)
	return b.String()
}

// exitCode maps an error to the code that scripts see.
func exitCode(err error) int {
	var f *failure
	var fields *fieldErrors
	var p *client.Problem
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &f):
		return f.code
	case errors.As(err, &fields):
		return exitUsage
	case errors.As(err, &p):
		return problemCode(p.Status)
	case errors.Is(err, client.ErrUnreachable), errors.Is(err, context.DeadlineExceeded):
		return exitUnreachable
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailed
}

func problemCode(status int) int {
	switch {
	case status == http.StatusBadRequest, status == http.StatusUnprocessableEntity, status == http.StatusRequestEntityTooLarge, status == http.StatusUnsupportedMediaType:
		return exitUsage
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status >= http.StatusInternalServerError:
		return exitUnreachable
	}
	return exitRefused
}

// complain prints an error for a person: a problem with each wrong field on its own
// line, everything else as one sentence with what to do next where that is known.
func complain(w io.Writer, err error) {
	var f *failure
	if errors.As(err, &f) && f.err == nil {
		return
	}
	var fields *fieldErrors
	var p *client.Problem
	switch {
	case errors.As(err, &fields):
		fmt.Fprintln(w, fields.Error())
	case errors.As(err, &p):
		complainProblem(w, p)
	case errors.Is(err, client.ErrUnreachable):
		fmt.Fprintf(w, "porpoise: %v\nIs it running (porpoise standalone), and is --server right?\n", err)
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(w, "porpoise: interrupted")
	default:
		fmt.Fprintf(w, "porpoise: %v\n", err)
	}
}

func complainProblem(w io.Writer, p *client.Problem) {
	fmt.Fprintf(w, "porpoise: %s\n", p.Error())
	if len(p.Errors) > 1 || (len(p.Errors) == 1 && p.Errors[0].Line > 0) {
		for _, fe := range p.Errors {
			where := ""
			if fe.Line > 0 {
				where = fmt.Sprintf("line %d, column %d: ", fe.Line, max(fe.Column, 1))
			}
			fmt.Fprintf(w, "  %s%s\n", where, fieldLine("", fe))
		}
	}
	if p.Status == http.StatusUnauthorized {
		fmt.Fprintln(w, "Give a token by --token or PORPOISE_TOKEN; a standalone node keeps one in its data folder as admin-token.")
	}
	if p.RequestID != "" && p.Status >= http.StatusInternalServerError {
		fmt.Fprintf(w, "  request %s\n", p.RequestID)
	}
}
