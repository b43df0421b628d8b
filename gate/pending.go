package gate

import "context"

// SessionOf returns the session in which a request was asked; "" where the gate
// knows no such request.
func (g *Gate) SessionOf(ctx context.Context, request string) (string, error) {
	return g.sessionOf(ctx, request)
}
