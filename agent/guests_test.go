package agent

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Without listeners and handler nobody tells anything, and no goroutine waits
// for it.
func TestNobodyListens(t *testing.T) {
	l, err := NewLoop(Options{Models: []Model{named{}}})
	require.NoError(t, err)
	require.Nil(t, l.audience)
	require.Nil(t, l.narrator("s", "r").teller)
	require.Nil(t, l.teller("r"))
	require.Zero(t, l.Unheard())
	d := &driver{loop: l, narrator: l.narrator("s", "r")}
	require.Zero(t, testing.AllocsPerRun(10, func() {
		d.consult(t.Context(), state{})
		d.roundStarts(t.Context(), state{})
	}))
}

// named is a model that has a name alone.
type named struct{ Model }

func (named) Name() string { return "named" }

// Guests have their time to end, and no more.
func TestGuestsAreSeenOff(t *testing.T) {
	tests := map[string]struct {
		guest func(ctx context.Context, stuck <-chan struct{})
		takes time.Duration
		left  bool
	}{
		"gone already":      {func(context.Context, <-chan struct{}) {}, 0, false},
		"busy for a while":  {func(context.Context, <-chan struct{}) { <-time.After(time.Second) }, time.Second, false},
		"until it is told":  {func(ctx context.Context, _ <-chan struct{}) { <-ctx.Done() }, guestsStay, false},
		"never of its will": {func(_ context.Context, stuck <-chan struct{}) { <-stuck }, 2 * guestsStay, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var said bytes.Buffer
				g, stuck := newGuests(), make(chan struct{})
				g.admit(func() { test.guest(g.ctx, stuck) })
				began := time.Now()
				g.seeOff(slog.New(slog.NewTextHandler(&said, nil)))
				require.Equal(t, test.takes, time.Since(began))
				require.Equal(t, test.left, said.Len() > 0)
				close(stuck)
			})
		})
	}
}
