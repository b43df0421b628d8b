package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestModelsRefused(t *testing.T) {
	for entry, want := range map[string]string{
		"{provider: script, file: x}":                                                "key models[0]: expected the key name",
		"{name: a, file: x}":                                                         "key models[0]: expected the key provider",
		"{name: a, provider: script}":                                                "key models[0]: expected the key file",
		"{name: a, provider: openai, model: m}":                                      "key models[0]: expected the key base-url",
		"{name: a, provider: mystery}":                                               `key models[0].provider: expected openai or script, found "mystery"`,
		"{name: a, provider: script, file: x, model: m}":                             "key models[0]: expected no key model with provider script; remove it",
		"{name: a, provider: script, file: x}, {name: a, provider: script, file: y}": `key models[1]: expected each name once, found "a" again; name this model otherwise`,
		"{name: a, base-url: 'https://u:secret@x/v1'}":                               "key models[0].base-url: expected a URL without user, query and fragment; put the key into an environment variable and name it in api-key-env",
		"{name: a, base-url: 'https://x/v1?key=secret'}":                             "key models[0].base-url: expected a URL without user, query and fragment; put the key into an environment variable and name it in api-key-env",
		"{name: a, base-url: 'localhost:1'}":                                         `key models[0].base-url: expected a URL such as https://api.example.org/v1, found "localhost:1"`,
		"{name: a, api-key-env: sk-secret}":                                          "key models[0].api-key-env: expected the name of an environment variable such as OPENAI_API_KEY; put the key itself into that variable",
		"{name: a, api-key: sk-secret}":                                              "key models[0].api-key: expected one of api-key-env, base-url, file, model, name, provider; correct the name or remove the key",
	} {
		_, _, err := load(t, source{file: "models: [" + entry + "]"})
		require.EqualError(t, err, "agentd.yaml:1: "+want)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestTokensRefused(t *testing.T) {
	hash, other := strings.Repeat("a", 64), strings.Repeat("b", 64)
	const wrongHash = "key auth.tokens[0].sha256: expected the hex SHA-256 of a token, 64 digits; `agentd token create` makes both"
	for entry, want := range map[string]string{
		"{sha256: " + hash + ", roles: [agent]}":                                                            "key auth.tokens[0]: expected the key name",
		"{name: a, roles: [agent]}":                                                                         "key auth.tokens[0]: expected the key sha256",
		"{name: a, sha256: " + hash + "}":                                                                   "key auth.tokens[0]: expected the key roles",
		"{name: a, sha256: " + hash + ", roles: []}":                                                        "key auth.tokens[0]: expected at least one role in roles",
		"{name: a, sha256: " + hash + ", roles: [root]}":                                                    `key auth.tokens[0].roles[0]: expected agent, reviewer, auditor or admin, found "root"`,
		"{name: a, sha256: " + hash + ", roles: [reviewer]}":                                                "key auth.tokens[0]: expected the key person: who decides with this token is recorded under that name",
		"{name: a, sha256: " + hash + ", roles: [admin]}":                                                   "key auth.tokens[0]: expected the key person: who decides with this token is recorded under that name",
		"{name: a, sha256: the-token-itself}":                                                               wrongHash,
		"{name: a, sha256: [" + hash + "]}":                                                                 wrongHash,
		"{name: a, sha256: " + hash + "aa}":                                                                 wrongHash,
		"{name: a, sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855}":               "key auth.tokens[0].sha256: expected the hash of a token, found that of the empty text; hash the token without a line end",
		"{name: a, permissions: [root]}":                                                                    `key auth.tokens[0].permissions[0]: expected an empty list, found "root"; this version has no permissions`,
		"{name: a, sha256: " + hash + ", roles: [agent]}, {name: a, sha256: " + other + ", roles: [agent]}": `key auth.tokens[1]: expected each name and each sha256 once, "a" has it too; make a new token`,
		"{name: a, sha256: " + hash + ", roles: [agent]}, {name: b, sha256: " + strings.ToUpper(hash) + ", roles: [agent]}": `key auth.tokens[1]: expected each name and each sha256 once, "a" has it too; make a new token`,
	} {
		_, _, err := load(t, source{file: "auth: {tokens: [" + entry + "]}"})
		require.EqualError(t, err, "agentd.yaml:1: "+want)
		require.NotContains(t, err.Error(), "itself")
	}
}

func TestCustomToolsRefused(t *testing.T) {
	const text = ", description: d, schema: {type: object}, command: [x]}"
	names := "key tools.custom[0].name: expected 1 to 64 letters, digits, _ and -, without __, found "
	for entry, want := range map[string]string{
		"{name: files__read" + text:                     names + `"files__read"`,
		"{name: 'a b'" + text:                           names + `"a b"`,
		"{name: Dеploy" + text:                          names + `"Dеploy"`,
		"{name: bash" + text:                            `key tools.custom[0].name: expected a name unlike the built-in Bash, found "bash"; name the tool otherwise`,
		"{name: TASK" + text:                            `key tools.custom[0].name: expected a name unlike the built-in Task, found "TASK"; name the tool otherwise`,
		"{name: Go" + text + ", {name: gO" + text:       `key tools.custom[1]: expected each name once, whatever its case, found "gO" again; name this tool otherwise`,
		"{name: Go}":                                    "key tools.custom[0]: expected the key description",
		"{name: Go, description: ''}":                   "key tools.custom[0].description: expected text, found nothing",
		"{command: []}":                                 "key tools.custom[0].command: expected a program and its arguments, found nothing",
		"{command: ['']}":                               "key tools.custom[0].command[0]: expected a program, found nothing",
		"{command: [a, 1]}":                             "key tools.custom[0].command[1]: expected text, found 1 (text needs quotes)",
		`{command: [a, "\0"]}`:                          `key tools.custom[0].command[1]: expected an argument without NUL, found "\x00"`,
		"{timeout: 0s}":                                 "key tools.custom[0].timeout: expected a duration from 1ms to 24h, found 0s",
		"{return-direct: 'true'}":                       `key tools.custom[0].return-direct: expected true or false, found the text "true"`,
		"{schema: []}":                                  "key tools.custom[0].schema: expected a JSON Schema with type: object, because arguments are an object",
		"{schema: {type: string}}":                      "key tools.custom[0].schema: expected a JSON Schema with type: object, because arguments are an object",
		"{schema: {type: object, minProperties: 0x10}}": `key tools.custom[0].schema.minProperties: expected a number as in JSON, or text in quotes, found "0x10"`,
		"{schema: {type: object, const: .inf}}":         `key tools.custom[0].schema.const: expected a number as in JSON, or text in quotes, found ".inf"`,
	} {
		_, _, err := load(t, source{file: "tools: {custom: [" + entry + "]}"})
		require.EqualError(t, err, "agentd.yaml:1: "+want)
	}
	for schema, want := range map[string]string{
		"{type: object, required: name}":                       "expected a JSON Schema:",
		"{type: object, $ref: 'file:///etc/passwd'}":           "is outside the schema; write it into $defs",
		"{type: object, properties: {a: {pattern: '('}}}":      "expected a JSON Schema:",
		"{type: object, $schema: 'http://127.0.0.1:1/schema'}": "is outside the schema; write it into $defs",
	} {
		_, _, err := load(t, source{file: "tools: {custom: [{schema: " + schema + "}]}"})
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\n")
	}
}
