package gate

import (
	"context"
	"errors"
	"strings"

	"github.com/countersign-dev/countersign/events"
)

// Check says why arguments could not run as a call of a tool, by its schema and
// by the policy of now, in words for people; nil where they could. It is what
// Decide asks of changed arguments, asked before anything is decided: nothing is
// recorded, and Decide asks again.
func (g *Gate) Check(_ context.Context, tool string, arguments []byte) error {
	j := g.judge(tool, arguments)
	if j.effect != events.EffectDeny {
		return nil
	}
	return errors.New(strings.TrimSuffix(strings.TrimPrefix(j.why, unfitPrefix), "."))
}
