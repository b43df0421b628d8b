package policy_test

import (
	"fmt"
	"os"

	"github.com/countersign-dev/countersign/policy"
)

func Example() {
	p, err := policy.Compile(policy.Config{
		RequiredTools: []string{"Write", "Edit", "Bash"},
		AllowedTools:  []string{"files__read_*"},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	for _, call := range []policy.Call{
		{Tool: "Bash", Source: policy.SourceBuiltin},
		{Tool: "Read", Source: policy.SourceBuiltin},
		{Tool: "files__read_text", Source: policy.SourceMCP, Server: "files"},
		{Tool: "files__move", Source: policy.SourceMCP, Server: "files"},
	} {
		v := p.Judge(call)
		fmt.Fprintf(os.Stdout, "%s: %s (%s)\n", call.Tool, v.Effect, v.Why)
	}
	// Output:
	// Bash: ask (required-tools names Bash)
	// Read: allow (required-tools does not name this tool)
	// files__read_text: allow (allowed-tools names files__read_*)
	// files__move: ask (tools of MCP servers ask unless allowed-tools names them with their server)
}
