package ui

import (
	"errors"

	"github.com/countersign-dev/countersign/ui/visible"
)

// errReadOnly is what every form gets that would put something on a log that is
// open for reading only.
var errReadOnly = errors.New("nothing can be decided now: the log was rolled back and is open for reading only; the head of every page says what was found, and what to do")

// readOnlyBanner is the first sentence above every page of a log that is open
// for reading only, or nothing. Who is not signed in is not told of paths.
func readOnlyBanner(why string, reader bool) []string {
	switch {
	case why == "":
		return nil
	case !reader:
		return []string{"Reading only: the log was rolled back. Sign in to see what was found, and what to do."}
	}
	return []string{"Reading only: " + visible.String(why) + ". Pages show what is left of the log; views of them are not on the record."}
}
