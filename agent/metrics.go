package agent

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/countersign-dev/countersign/internal/instruments"
)

// metrics are the loop's own instruments.
type metrics struct {
	models instruments.Names
	tokens *prometheus.CounterVec // model, type
}

// The label type of tokens.
const (
	tokensIn  = "input"
	tokensOut = "output"
)

func newMetrics(l *Loop, reg prometheus.Registerer) (*metrics, error) {
	names := make([]string, 0, len(l.opt.Models))
	for _, m := range l.opt.Models {
		names = append(names, m.Name())
	}
	m := &metrics{
		models: instruments.NewNames(names...),
		tokens: instruments.Counter("countersign_llm_tokens_total", "Tokens of model rounds, as providers count them, failed rounds included.", "model", "type"),
	}
	for _, model := range m.models.All() {
		m.tokens.WithLabelValues(model, tokensIn)
		m.tokens.WithLabelValues(model, tokensOut)
	}
	unheard := instruments.ReadTotal("countersign_loop_unheard_total", "Things that listeners of the loop were not told, because they were too slow.",
		func() float64 { return float64(l.Unheard()) })
	return m, instruments.RegisterAll(reg, m.tokens, unheard)
}

// used counts what a round cost. What is below zero is no count.
func (m *metrics) used(model string, u Usage) {
	model = m.models.Of(model)
	m.tokens.WithLabelValues(model, tokensIn).Add(float64(max(0, u.PromptTokens)))
	m.tokens.WithLabelValues(model, tokensOut).Add(float64(max(0, u.CompletionTokens)))
}
