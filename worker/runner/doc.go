// Package runner is the process that owns a worker's task processes, so that a crash
// or an upgrade of the worker's control process is no crash of a task. It starts and
// ends processes, takes their output and their exit, and keeps both on disk until the
// control process has them; it knows nothing of masters, workflows or task types. The
// control process talks to it by Client; `porpoise runner` is Main.
package runner

//go:generate go run ../../internal/rpc/gen runner.proto
