// Package logs brings the output of attempts from workers to the API. Workers dial
// in and keep one stream open; queries go down that stream, answers come back.
//
// It owns the open streams and the queries in flight, all of them bounded. It stores
// nothing, reads no file, and never dials: a worker without a stream here is gone as
// far as a reader is concerned (ErrWorkerGone). apiserver reads and follows with it;
// cmd registers it on the node's gRPC server.
package logs
