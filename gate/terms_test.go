package gate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/policy"
)

// Where a rule names who may decide, or asks for four eyes, no handler does.
func TestTermsThatAdmitHandlers(t *testing.T) {
	p, err := policy.Compile(policy.Config{Timeout: time.Minute})
	require.NoError(t, err)
	tests := map[string]struct {
		asked   bool
		verdict policy.Verdict
		want    bool
	}{
		"nobody has one":  {asked: false},
		"every reviewer":  {asked: true, want: true},
		"a quorum":        {asked: true, verdict: policy.Verdict{Quorum: 2}, want: true},
		"named approvers": {asked: true, verdict: policy.Verdict{Approvers: []string{"group:sre"}}},
		"four eyes":       {asked: true, verdict: policy.Verdict{FourEyes: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := &Gate{}
			g.policy.Store(p)
			require.Equal(t, test.want, g.terms(judgement{policy: test.verdict}, test.asked).Handlers)
		})
	}
}
