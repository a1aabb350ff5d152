// Package webhook tells a receiver of something by HTTP, so that it can be sure who speaks.
//
// It owns the headers, the signature and the call: a POST with a bounded wait, no redirect, and an
// answer that is not read. It retries nothing and keeps no state: the master's deliveries decide
// about that, and the API's test of a listener calls once. docs/listeners.md describes it for receivers.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/porpoise/porpoise/internal/egress"
)

// The headers of a call.
const (
	EventHeader     = "Porpoise-Event"     // names the event: a receiver that has seen it may pass over it
	TimestampHeader = "Porpoise-Timestamp" // seconds since 1970, of this very call
	SignatureHeader = "Porpoise-Signature" // see Sign; absent where there is no secret
)

const (
	// Timeout bounds a call as a whole.
	Timeout = 10 * time.Second
	// connectWait bounds each of its parts before the request is sent.
	connectWait = 5 * time.Second
	// MaxURL bounds a receiver's URL.
	MaxURL = 2048
	// maxDrained is what is read of an answer, so that a server that still writes is not cut off in the middle of a
	// short one. Nothing of it is kept.
	maxDrained = 4 << 10
)

// Message is what one call tells.
type Message struct {
	URL    string
	Event  string
	Secret []byte // empty: the call is not signed
	Body   []byte // JSON
}

// Sender calls receivers. It is safe for concurrent use.
type Sender struct {
	Rule egress.Rule
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Send calls once. The receiver has taken the message where err is nil: it answered 2xx. status is that of the
// answer, 0 where none came.
func (s *Sender) Send(ctx context.Context, m Message) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return 0, err
	}
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	timestamp := strconv.FormatInt(now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "porpoise")
	req.Header.Set(EventHeader, m.Event)
	req.Header.Set(TimestampHeader, timestamp)
	if len(m.Secret) > 0 {
		req.Header.Set(SignatureHeader, Sign(m.Secret, timestamp, m.Body))
	}
	transport := s.Rule.Transport(connectWait)
	defer transport.CloseIdleConnections()
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		// The text of a url.Error repeats the URL, which may hold a key.
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return res.StatusCode, fmt.Errorf("the answer has status %d", res.StatusCode)
	}
	_, _ = io.CopyN(io.Discard, res.Body, maxDrained)
	return res.StatusCode, nil
}

// Sign returns "v1=" and, in hex, the HMAC-SHA256 of the timestamp, a dot and the body.
func Sign(secret []byte, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// Receiver names who is behind a URL, by scheme, host and port. The error says what is wrong with it.
func Receiver(text string) (string, error) {
	if len(text) > MaxURL {
		return "", fmt.Errorf("the URL has %d bytes, at most %d are allowed", len(text), MaxURL)
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", errors.New("this is not a URL")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("only http and https are called")
	case u.Hostname() == "":
		return "", errors.New("the URL names no host")
	case len(u.Host) > maxHost:
		return "", errors.New("the host is too long to be one")
	case u.User != nil:
		return "", errors.New("a user and password in a URL are shown to everybody who sees it: use the secret")
	case u.Fragment != "":
		return "", errors.New("a receiver never sees what follows #")
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

// maxHost is under the 253 bytes that DNS allows: the name of a lane holds it.
const maxHost = 230
