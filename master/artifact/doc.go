// Package artifact takes from workers the files that their attempts leave, and gives them the files that attempts use.
//
// It owns the transfers under way, which are bounded; the files are in the store. It never decides whether an attempt has
// succeeded: a worker reports that once its files are kept, to the master that owns the instance. Any master serves
// any worker. master joins it to the other parts.
package artifact
