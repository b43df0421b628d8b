package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/models"
)

// model asks for as many calls of a tool as the query says ("8 Look"), and
// tells when its turns ended and when it was asked again.
type model struct {
	*models.Scripted

	turned chan time.Time // when the turn with calls was finished
	asked  chan time.Time // when the next request came
}

func newModel() *model {
	return &model{turned: make(chan time.Time, 1), asked: make(chan time.Time, 1)}
}

// script is what the model plays for each query.
func script(counts ...int) string {
	var s strings.Builder
	s.WriteString("closing: done\nconversations:\n")
	for _, tool := range []string{"Note", "Look"} {
		for _, n := range counts {
			fmt.Fprintf(&s, "  - match: %q\n    turns:\n      - text: I look at it.\n        calls:\n", query(n, tool))
			for range n {
				fmt.Fprintf(&s, "          - {name: %s, arguments: '{\"text\":\"the limits, reviewed by finance\"}'}\n", tool)
			}
		}
	}
	return s.String()
}

// query asks for calls.
func query(n int, tool string) string { return fmt.Sprintf("%d %s", n, tool) }

// Stream implements agent.Model.
func (m *model) Stream(ctx context.Context, req agent.Request, sink func(agent.Delta)) (agent.Turn, error) {
	now := time.Now()
	again := len(req.Messages) > 1
	turn, err := m.Scripted.Stream(ctx, req, sink)
	if again {
		m.asked <- now
	} else {
		m.turned <- time.Now()
	}
	return turn, err
}
