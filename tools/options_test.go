package tools_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/tools"
)

func TestNewRefuses(t *testing.T) {
	object := json.RawMessage(`{"type":"object"}`)
	shell := []string{"/bin/sh"}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "x")
	ws := filepath.Join(dir, "ws")
	write(t, filepath.Join(ws, "data", "x"), "x")
	require.NoError(t, os.Symlink(filepath.Join(ws, "data"), filepath.Join(dir, "link")))
	for text, o := range map[string]tools.Options{
		"no folder is named":             {},
		"not a directory":                {Workspace: filepath.Join(dir, "file")},
		"contain each other":             {Workspace: ws, Protected: []string{filepath.Join(ws, "data")}},
		filepath.Base(dir) + " must not": {Workspace: ws, Protected: []string{dir}},
		`builtin "read": there is none`:  {Workspace: ws, Builtin: []string{"read"}},
		`"Read" and "Read"`:              {Workspace: ws, Builtin: []string{"Read", "Read"}},
		`"Bash" and "bash"`:              {Workspace: ws, Builtin: builtin, Custom: []tools.Custom{{Name: "bash", Schema: object, Command: shell}}},
		`custom "": name`:                {Workspace: ws, Custom: []tools.Custom{{Schema: object, Command: shell}}},
		`custom "a b": name`:             {Workspace: ws, Custom: []tools.Custom{{Name: "a b", Schema: object, Command: shell}}},
		`custom "files__x": name`:        {Workspace: ws, Custom: []tools.Custom{{Name: "files__x", Schema: object, Command: shell}}},
		`custom "Dеploy": name`:          {Workspace: ws, Custom: []tools.Custom{{Name: "Dеploy", Schema: object, Command: shell}}},
		"command: it is empty":           {Workspace: ws, Custom: []tools.Custom{{Name: "A", Schema: object}}},
		"give an absolute path":          {Workspace: ws, Custom: []tools.Custom{{Name: "A", Schema: object, Command: []string{"./a.sh"}}}},
		"is not in PATH":                 {Workspace: ws, Custom: []tools.Custom{{Name: "A", Schema: object, Command: []string{"nonesuch-x"}}}},
		"not an executable file":         {Workspace: ws, Custom: []tools.Custom{{Name: "A", Schema: object, Command: []string{dir + "/file"}}}},
		"no such file":                   {Workspace: ws, Custom: []tools.Custom{{Name: "A", Schema: object, Command: []string{dir + "/none"}}}},
		`custom "A": schema`:             {Workspace: ws, Custom: []tools.Custom{{Name: "A", Command: shell}}},
		`"type" must be "object"`:        {Workspace: ws, Custom: []tools.Custom{{Name: "A", Schema: json.RawMessage(`{"type":"string"}`), Command: shell}}},
		"duplicate object member":        {Workspace: ws, Custom: []tools.Custom{{Name: "A", Schema: json.RawMessage(`{"type":"object","type":"object"}`), Command: shell}}},
		"jsonschema validation failed":   {Workspace: ws, Custom: []tools.Custom{{Name: "A", Schema: json.RawMessage(`{"type":"object","required":"x"}`), Command: shell}}},
		"may not refer to other":         {Workspace: ws, Custom: []tools.Custom{{Name: "A", Schema: json.RawMessage(`{"type":"object","$ref":"file:///etc/passwd"}`), Command: shell}}},
	} {
		t.Run(text, func(t *testing.T) {
			_, err := tools.New(o)
			require.ErrorIs(t, err, tools.ErrOptions)
			require.ErrorContains(t, err, text)
		})
	}
	_, err := tools.New(tools.Options{Workspace: ws, Protected: []string{filepath.Join(dir, "link")}})
	require.ErrorContains(t, err, "contain each other", "a link into the workspace")
	_, err = tools.New(tools.Options{Workspace: ws, Protected: []string{filepath.Join(dir, "ws-data"), filepath.Join(dir, "none", "x")}}) // beside it
	require.NoError(t, err)
}

func TestSpecs(t *testing.T) {
	b := newBench(t, custom(tools.Custom{Name: "Deploy", Description: "d", Command: []string{"/bin/sh"}, ReturnDirect: true}))
	for name, source := range map[string]string{
		"Read": "builtin-tools", "Write": "builtin-tools", "Edit": "builtin-tools", "Bash": "builtin-tools",
		"Deploy": "customer-json-schema",
	} {
		spec := b.tools[name].Spec()
		require.Equal(t, name, spec.Name)
		require.Equal(t, source, spec.Source)
		require.NotEmpty(t, spec.Description)
		require.Equal(t, "none", spec.Isolation)
		require.Equal(t, name == "Read", spec.ReadOnly)
		require.Equal(t, name == "Deploy", spec.ReturnDirect)
	}
}

func TestBuiltinSchemas(t *testing.T) {
	b := newBench(t)
	for _, test := range []struct {
		tool, arguments string
		fits            bool
	}{
		{"Read", `{"path":"a"}`, true},
		{"Read", `{"path":"a","offset":1,"limit":5}`, true},
		{"Read", `{"path":"a","offset":1.0,"limit":5e3}`, true},
		{"Read", `{"path":"a","offset":0}`, false},
		{"Read", `{"path":"a","offset":1.5}`, false},
		{"Read", `{"path":"a","limit":1e30}`, false},
		{"Read", `{"path":""}`, false},
		{"Read", `{"path":1}`, false},
		{"Read", `{}`, false},
		{"Write", `{"path":"a","content":""}`, true},
		{"Write", `{"path":"a"}`, false},
		{"Write", `{"file":"a","content":""}`, false},
		{"Write", `{"path":"a","content":"","mode":"x"}`, false},
		{"Edit", `{"path":"a","old":"x","new":"","replace_all":true}`, true},
		{"Edit", `{"path":"a","old":"","new":"x"}`, false},
		{"Edit", `{"file":"a","old":"x","new":"y"}`, false},
		{"Bash", `{"command":"ls","timeout_ms":600000}`, true},
		{"Bash", `{"command":"ls","timeout_ms":6E+5}`, true},
		{"Bash", `{"command":"ls","timeout_ms":600001}`, false},
		{"Bash", `{"command":""}`, false},
		{"Bash", `{"cmd":"ls"}`, false},
	} {
		t.Run(test.tool+" "+test.arguments, func(t *testing.T) {
			compiler := jsonschema.NewCompiler()
			document, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.tools[test.tool].Spec().Schema))
			require.NoError(t, err)
			require.NoError(t, compiler.AddResource("s.json", document))
			schema, err := compiler.Compile("s.json")
			require.NoError(t, err)
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(test.arguments))
			require.NoError(t, err)
			require.Equal(t, test.fits, schema.Validate(value) == nil)
		})
	}
}

func TestDefinitionIsCanonical(t *testing.T) {
	sh, err := os.ReadFile("/bin/sh")
	require.NoError(t, err)
	of := func(schema string, command ...string) string {
		b := newBench(t, custom(tools.Custom{Name: "A", Description: "é <b>", Schema: json.RawMessage(schema), Command: command}))
		text, err := tools.Definition(b.tools["A"])
		require.NoError(t, err)
		return string(text)
	}
	one := of(`{"type":"object","properties":{"n":{"maximum":12345678901234567890}}}`, "/bin/sh", "-c", "true")
	require.Equal(t, `{"command":["/bin/sh","-c","true"],"description":"é <b>","executable":{"path":"/bin/sh","sha256":"`+sum(sh)+`"},"isolation":"none","name":"A","read_only":false,`+
		`"return_direct":false,"schema":{"properties":{"n":{"maximum":12345678901234567890}},"type":"object"},`+
		`"source":"customer-json-schema"}`, one)
	require.Equal(t, one, of("{ \"properties\": {\"n\":{\"maximum\":12345678901234567890}},\n\"type\":\"object\"}", "/bin/sh", "-c", "true"))
	require.NotEqual(t, one, of(`{"type":"object","properties":{"n":{"maximum":12345678901234567891}}}`, "/bin/sh", "-c", "true"))
	require.NotEqual(t, one, of(`{"type":"object","properties":{"n":{"maximum":12345678901234567890}}}`, "/bin/sh", "-c", "false"))
}

func sum(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}

// A changed digest makes everybody's calls of a built-in tool ask again, so it
// must be meant. That of Bash has the machine's shell in it.
func TestBuiltinDigests(t *testing.T) {
	b := newBench(t)
	for name, want := range map[string]string{
		"Read":  "b2b110ef1d18403739d6fbc06f98dfb4204bc6c52355ecaf3aa5293c841968e2",
		"Write": "cd1b7c5c98f3382dec915adec37b954c3f74d77584b3c2c016927ca15123da31",
		"Edit":  "5bebb67869c05bcf5faab21a7a8463e01b52787eefbfe378b980222875ef8efc",
		"Bash":  "12f8adc0a0e61940f308faec55deeef6c1d6eb6b5eff7c903795efae7e611fe1",
	} {
		text, err := tools.Definition(b.tools[name])
		require.NoError(t, err)
		text = regexp.MustCompile(`"executable":\{"path":"[^"]+","sha256":"[0-9a-f]{64}"\},`).ReplaceAll(text, nil)
		require.Equal(t, want, sum(text), string(text))
	}
}

func TestDefinitionRefusesAnAmbiguousSchema(t *testing.T) {
	_, err := tools.Definition(loose{})
	require.ErrorContains(t, err, `definition of tool "Loose"`)
}

// loose is a tool of another source, whose schema nobody checked.
type loose struct{ agent.Tool }

func (loose) Spec() agent.ToolSpec {
	return agent.ToolSpec{Name: "Loose", Schema: json.RawMessage(`{"a":1,"a":2}`)}
}

// Where processes cannot be shut off though they must be, tools that need one say
// why, and start none; what needs none works.
func TestWhatCannotBeShutOff(t *testing.T) {
	b := newBench(t, custom(tools.Custom{Name: "Deploy", Command: []string{"/bin/sh", "-c", "touch made"}}), func(o *tools.Options) {
		o.Hindrance = "this machine has no user namespaces"
	})
	for tool, arguments := range map[string]string{"Bash": `{"command":"touch made"}`, "Deploy": `{}`} {
		spec := b.tools[tool].Spec()
		require.Equal(t, []string{"unavailable", "It needs a process of its own, and this machine has no user namespaces."}, []string{spec.Isolation, spec.Hindrance})
		_, err := b.run(tool, arguments)
		require.ErrorContains(t, err, "not started: this machine has no user namespaces")
	}
	require.NoFileExists(t, b.path("made"))
	_, err := b.run("Write", args{"path": "f", "content": "x"})
	require.NoError(t, err)
	require.Equal(t, "in-process", b.tools["Write"].Spec().Isolation)
	require.Empty(t, b.tools["Write"].Spec().Hindrance)
}
