package main

// timers are bugs in when timers fire, and how often a call is tried.
var timers = []mutant{
	{"the end of a window fires in both", "timer.go", `if at >= until || len(fires) >= most {`, `if at > until || len(fires) >= most {`},
	{"a window forgets its first moment", "timer.go", `for after := from - 1; ; {`, `for after := from; ; {`},
	{"a call is tried once more than it may be", "timer.go", `if tries >= s.Tries() {`, `if tries > s.Tries() {`},
	{"the wait between tries does not grow", "timer.go", `		pause *= 2
`, ``},
	{"the wait between tries has no bound", "timer.go", `return min(pause, maxPause)`, `return pause * 2`},
	{"every try has a key of its own moment alone", "timer.go", `strconv.FormatInt(timer, 10) + "-" + strconv`, `"-" + strconv`},
}

// rings are bugs in how masters claim and call.
var rings = []mutant{
	{"a redirect is followed", "call.go", `return http.ErrUseLastResponse`, `return nil`},
	{"a call has no end", "call.go", `ctx, cancel := context.WithTimeout(ctx, t.spec.Timeout())`, `ctx, cancel := context.WithCancel(ctx)`},
	{"all of an answer is kept", "call.go", `response = cut(string(body), MaxResponse)`, `response = string(body)`},
	{"an error of the receiver is a success", "call.go", `case res.StatusCode < 200 || res.StatusCode > 299:`, `case false:`},
	{"one value of a header is sent", "call.go", `			req.Header.Add(name, v)`, `			req.Header.Set(name, v)`},
	{"a call has no key", "call.go", `	req.Header.Set(KeyHeader, rules.Key(t.key.TimerID, t.key.PlannedAt))
`, ``},
	{"a clock that is wrong is gone by", "clock.go", `sure := off.Abs() <= skewStop`, `sure := true`},
	{"every master sweeps", "load.go", `if !owned[0] || !r.trusted.Load() {`, `if owned == nil || !r.trusted.Load() {`},
}
