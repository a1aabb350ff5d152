package egress

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestOnlyAllowedAddressesAreReached(t *testing.T) {
	t.Parallel()
	strict := Rule{DenyLoopback: true, DenyPrivate: true}
	for _, c := range []struct {
		rule    Rule
		address string
		allowed bool
	}{
		{Rule{}, "127.0.0.1:80", true},
		{Rule{}, "10.0.0.1:80", true},
		{Rule{}, "169.254.169.254:80", false},
		{Rule{}, "[fe80::1]:80", false},
		{Rule{}, "[::ffff:169.254.169.254]:80", false},
		{Rule{}, "224.0.0.1:80", false},
		{Rule{}, "no address", false},
		{strict, "127.0.0.1:80", false},
		{strict, "[::1]:80", false},
		{strict, "0.0.0.0:80", false},
		{strict, "[::ffff:127.0.0.1]:80", false},
		{strict, "192.168.1.1:80", false},
		{strict, "[fd00::1]:80", false},
		{strict, "93.184.216.34:443", true},
	} {
		if err := c.rule.allowed(c.address); (err == nil) != c.allowed || err != nil && !errors.Is(err, ErrDenied) {
			t.Errorf("%+v: %s: %v, want allowed %v", c.rule, c.address, err, c.allowed)
		}
	}
}

func TestAHostIsCheckedWhereItIsAnAddress(t *testing.T) {
	t.Parallel()
	for host, allowed := range map[string]bool{"localhost": false, "127.0.0.1": false, "::1": false, "fe80::1%eth0": false, "example.org": true, "10.0.0.1": true} {
		if err := (Rule{DenyLoopback: true}).Check(host); (err == nil) != allowed {
			t.Errorf("%s: %v, want allowed %v", host, err, allowed)
		}
	}
}

func TestADeniedAddressIsNotConnected(t *testing.T) {
	t.Parallel()
	called := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer server.Close()
	client := &http.Client{Transport: Rule{DenyLoopback: true}.Transport(time.Second)}
	res, err := client.Get(server.URL) //nolint:noctx // it is refused at once
	if err == nil {
		_ = res.Body.Close()
	}
	if !errors.Is(err, ErrDenied) || called {
		t.Errorf("called %v, %v", called, err)
	}
}
