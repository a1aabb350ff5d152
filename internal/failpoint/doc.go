// Package failpoint lets a test end, delay or fail a process at a named step.
//
// It owns the names' actions and how often they happen. Without the build tag failpoints
// Hit is an empty function that the compiler removes: a release binary has no trace of it,
// which a test holds. With the tag it does what PORPOISE_TEST_FAILPOINTS says, see Parse.
// Whoever has a step that a crash may hit calls Hit; bench/chaos/matrix sets the actions.
package failpoint

import "errors"

// Err is what Hit returns where the action is error.
var Err = errors.New("failpoint")
