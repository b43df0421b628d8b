package generate

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/events"
)

// kinds are the tools, and the arguments that models write for them.
func kinds() []kind {
	return []kind{
		{name: "Read", source: events.SourceBuiltin, common: 26, args: readArgs},
		{name: "Search", source: events.SourceCustom, common: 14, args: searchArgs},
		{name: "Bash", source: events.SourceBuiltin, common: 14, writes: true, args: bashArgs},
		{name: "Edit", source: events.SourceBuiltin, common: 13, writes: true, args: editArgs},
		{name: "Write", source: events.SourceBuiltin, common: 9, writes: true, args: writeArgs},
		{name: "slack__post_message", source: events.SourceMCP, common: 5, writes: true, args: slackArgs},
		{name: "github__create_pull_request", source: events.SourceMCP, common: 4, writes: true, args: pullArgs},
		{name: "files__write_file", source: events.SourceMCP, common: 4, writes: true, args: writeArgs},
		{name: "SendMail", source: events.SourceCustom, common: 4, writes: true, args: mailArgs},
		{name: "Deploy", source: events.SourceCustom, common: 3, writes: true, grave: true, args: deployArgs},
		{name: "Migrate", source: events.SourceCustom, common: 3, writes: true, grave: true, args: migrateArgs},
		{name: "DropTable", source: events.SourceCustom, common: 1, writes: true, args: dropArgs},
	}
}

// object writes a JSON object of pairs of name and text.
func object(pairs ...string) []byte {
	b := []byte{'{'}
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		b = quoted(append(quoted(b, pairs[i]), ':'), pairs[i+1])
	}
	return append(b, '}')
}

// quoted appends a JSON string; what is no UTF-8 is replaced.
func quoted(b []byte, s string) []byte {
	out, _ := jsontext.AppendQuote(b, s) // its only error is invalid UTF-8, which it replaces
	return out
}

func readArgs(t *telling) []byte {
	if t.d.chance(0.7) {
		return object("path", t.text.path(t.d))
	}
	return fmt.Appendf(nil, `{"path":%q,"offset":%d,"limit":%d}`, t.text.path(t.d), 1+t.d.IntN(900), 50*t.d.between(1, 8))
}

func searchArgs(t *telling) []byte {
	return object("query", t.text.identifier(t.d), "limit", fmt.Sprint(10*t.d.between(1, 10)))
}

func bashArgs(t *telling) []byte {
	command := fmt.Sprintf(pick(t.d, []string{
		"go test ./%[1]s/... -run Test%[2]s -count=1", "git diff --stat HEAD~%[3]d -- %[1]s", "grep -rn %[2]q %[1]s | head -n %[3]d0",
		"make -C %[1]s %[2]s && git status --short", "curl -fsS http://localhost:80%[3]d/healthz | jq .%[2]s", "rm -rf build/%[1]s && mkdir -p build/%[1]s",
		"kubectl -n %[2]s rollout status deploy/%[1]s --timeout=%[3]d0s", "psql -c 'select count(*) from %[2]s where id > %[3]d00'",
		"sed -i 's/%[2]s/%[2]sV%[3]d/g' %[1]s/*.go", "npm --prefix %[1]s run build -- --mode=%[2]s",
	}), t.text.folder(t.d), t.text.identifier(t.d), t.d.between(1, 9))
	if t.d.chance(0.85) {
		return object("command", command)
	}
	return fmt.Appendf(nil, `{"command":%s,"timeout_ms":%d}`, quoted(nil, command), 1000*t.d.between(5, 300))
}

func writeArgs(t *telling) []byte {
	return object("path", t.text.path(t.d), "content", string(t.text.some(t.d, t.d.size(450, 1.1, 60<<10))))
}

func editArgs(t *telling) []byte {
	old := string(t.text.some(t.d, t.d.size(80, 0.7, 4<<10)))
	return object("path", t.text.path(t.d), "old", old, "new", old+string(t.text.some(t.d, t.d.size(60, 0.9, 4<<10))))
}

func slackArgs(t *telling) []byte {
	return object("channel", "#"+t.text.folder(t.d), "text", string(t.text.some(t.d, t.d.size(140, 0.6, 3000))))
}

func pullArgs(t *telling) []byte {
	return object("title", t.text.title(t.d), "body", string(t.text.some(t.d, t.d.size(400, 0.8, 8<<10))), "head", "agent/"+t.text.identifier(t.d), "base", "main")
}

func mailArgs(t *telling) []byte {
	return object("to", t.text.identifier(t.d)+"@customer.example", "subject", t.text.title(t.d), "body", string(t.text.some(t.d, t.d.size(500, 0.6, 6<<10))))
}

func deployArgs(t *telling) []byte {
	version := fmt.Sprintf("%d.%d.%d", t.d.between(1, 4), t.d.IntN(30), t.d.IntN(12))
	return object("service", t.text.folder(t.d), "version", version, "environment", pick(t.d, []string{"staging", "staging", "production"}))
}

func migrateArgs(t *telling) []byte {
	statement := fmt.Sprintf(pick(t.d, []string{
		"ALTER TABLE %[1]s ADD COLUMN %[2]s text NOT NULL DEFAULT ''", "CREATE INDEX CONCURRENTLY ON %[1]s (%[2]s)",
		"DELETE FROM %[1]s WHERE %[2]s < now() - interval '%[3]d days'", "UPDATE %[1]s SET %[2]s = NULL WHERE id %% %[3]d = 0",
	}), t.text.folder(t.d), t.text.identifier(t.d), t.d.between(2, 400))
	return object("database", pick(t.d, []string{"orders", "ledger", "accounts"}), "statement", statement)
}

func dropArgs(t *telling) []byte {
	return object("database", "orders", "table", t.text.folder(t.d)+"_"+t.now.Format(time.DateOnly))
}
