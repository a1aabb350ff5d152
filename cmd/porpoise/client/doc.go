// Package client speaks the REST API of Porpoise in Go's types.
//
// It owns how a request is made, how a problem answer becomes an error, and how a
// log or an event stream is read. It decides nothing, prints nothing and never
// retries a write by itself. The verbs of cmd/porpoise use it, and so do the
// programs in bench, so that what they measure is what a user gets.
package client
