// Package watch keeps one stream to every master: hints go down it, committed changes
// come up.
//
// It owns those streams and the subscribers that changes are handed to. It promises
// nothing that a row does not: a hint may be lost (masters poll), and a change may be
// (a subscriber is then told to read again). It never reads the database. apiserver
// sends hints and subscribes; cmd tells it where the masters are.
package watch
