package policy

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/events"
)

// ErrDocument is for what is not the document of a policy, or of one whose
// rules of matching this build does not have.
var ErrDocument = errors.New("not the document of a policy that this build can read")

// Read returns the policy whose Document is given: it judges as that one did.
// It takes Document's own bytes alone, so that the digest names what judges.
func Read(text []byte) (*Policy, error) {
	var d document
	if err := json.Unmarshal(text, &d, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDocument, err)
	}
	if d.Format != format {
		return nil, fmt.Errorf("%w: its format is %.60q, this build reads %q", ErrDocument, d.Format, format)
	}
	timeout, err1 := time.ParseDuration(d.Timeout)
	startWithin, err2 := time.ParseDuration(d.StartWithin)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDocument, err)
	}
	p, err := Compile(Config{
		RequiredTools: d.Required, AllowedTools: d.Allowed, DeniedTools: d.Denied, RequiredSet: d.Required != nil,
		Timeout: timeout, StartWithin: startWithin,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDocument, err)
	}
	if p.digest != string(events.DigestOf(text)) {
		return nil, fmt.Errorf("%w: it is not written as this build writes it", ErrDocument)
	}
	return p, nil
}
