package main_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Who was told of a request finds it, however far the views are behind: it is
// neither refused nor recorded as refused.
func TestARequestIsThereAtOnce(t *testing.T) {
	h := newHome(t)
	p := h.start()
	who := p.signIn()
	for range 20 {
		s := p.as(agentToken).begin(t, plan{{count("Count", "at once")}}.query())
		require.Contains(t, who.page("/requests/"+s.until(t, "approval_request").RequestID), "at once")
	}
}
