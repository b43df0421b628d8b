package agent

import (
	"context"
	"encoding/json"
)

// Tool is something a model may ask to run. Nothing calls Run but the gate's
// executor, after the start was recorded and found effective.
type Tool interface {
	// Spec is fixed for the life of the value.
	Spec() ToolSpec
	// Run runs the tool once. The output is what the tool produced, whatever
	// its bytes; an error is told to the model and recorded as status "error".
	// A context that ends means: stop now.
	Run(ctx context.Context, arguments []byte) (Output, error)
}

// ToolSpec describes a tool to the model, the policy and the record.
type ToolSpec struct {
	Name        string
	Description string
	// Source is "builtin-tools", "skill", "mcp" or "customer-json-schema".
	Source string
	// Schema is the JSON Schema (2020-12) of the arguments object.
	Schema json.RawMessage
	// ReadOnly tools change nothing; they may run side by side, and are not
	// held back by the protected calls of their turn.
	ReadOnly bool
	// ReturnDirect ends the run with this tool's result as the answer.
	ReturnDirect bool
	// Isolation is how the tool is kept from agentd: "none", or its means.
	Isolation string
	// Hindrance says why no call of the tool can run on this machine, as a
	// sentence for the model; "" where it can.
	Hindrance string
}

// Output is what one run of a tool produced.
type Output struct {
	Content []byte
	// MediaType is "text/plain; charset=utf-8" where empty.
	MediaType string
	// FullBytes is the size of all that the tool produced where Content was cut
	// at the executor's bound; 0 means Content is all. Digest is then the
	// SHA-256 of the whole, as far as it was read.
	FullBytes int64
	Digest    string
	// StoppedBy says what ended the tool early ("timeout", "cancelled",
	// "shutdown", "output-limit"), or "".
	StoppedBy string
}
