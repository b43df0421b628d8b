package tools

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/internal/exec"
)

// maxBashTimeout is the longest that a call of Bash may ask for.
const maxBashTimeout = 10 * time.Minute

type bashTool struct {
	*workbench
	*program // the shell

	timeout time.Duration
}

// newBash takes bash, or sh where there is no bash.
func newBash(b *workbench, timeout time.Duration) (*bashTool, error) {
	shell, err := exec.Find("bash", b.env)
	if err != nil {
		shell, err = exec.Find("sh", b.env)
	}
	if err != nil {
		return nil, err
	}
	run, err := newProgram(shell)
	return &bashTool{workbench: b, program: run, timeout: timeout}, err
}

func (t *bashTool) Spec() agent.ToolSpec {
	return t.processSpec(t.fileSpec("Bash",
		"Run a command line in the shell, in the workspace folder. The result is what it prints, standard output and "+
			"standard error together; a status other than 0 is an error. It has no input and no terminal. "+
			"When the command line ends, what it left running in its session is ended too.",
		`{"type":"object","additionalProperties":false,"required":["command"],"properties":{`+
			`"command":{"type":"string","minLength":1,"description":"the command line"},`+
			`"timeout_ms":{"type":"integer","minimum":1,"maximum":600000,`+
			`"description":"stop it after so many milliseconds; the operator's limit if absent"}}}`))
}

func (t *bashTool) Run(ctx context.Context, arguments []byte) (agent.Output, error) {
	var args struct {
		Command *string `json:"command"`
		Timeout *whole  `json:"timeout_ms"`
	}
	if err := decode(arguments, &args); err != nil {
		return agent.Output{}, err
	}
	if err := needs("command", args.Command); err != nil {
		return agent.Output{}, err
	}
	timeout := t.timeout
	if args.Timeout != nil {
		if *args.Timeout < 1 || int64(*args.Timeout) > maxBashTimeout.Milliseconds() {
			return agent.Output{}, fmt.Errorf("%w: timeout_ms must be from 1 to %d", ErrArguments, maxBashTimeout.Milliseconds())
		}
		timeout = time.Duration(*args.Timeout) * time.Millisecond
	}
	result, err := t.run(ctx, exec.Command{
		// "--" keeps a command line that begins with "-" from being an option.
		Argv: []string{t.path, "-c", "--", *args.Command}, Timeout: timeout, Merge: true,
	})
	if err != nil {
		return agent.Output{}, err
	}
	return output(result), failure(result, timeout, result.Stdout, t.maxResult)
}
