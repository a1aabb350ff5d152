// Package tasklog keeps the output of attempts on a worker's disk: the first 16 and the
// last 48 MiB of each, standard output and standard error apart and as they came. Short
// outputs share append-only segments, because a file per task costs as much as the task;
// a long or long-lived one gets a folder of pieces. It owns the folder it is given, its
// bounds by size and age, and knows where lines end. The runner writes and reads; the
// worker searches through windows that the runner gives, so that no pattern of a user's
// costs the process that all tasks depend on.
package tasklog
