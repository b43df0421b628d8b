package ui_test

import (
	"encoding/json"
	"strings"

	"github.com/countersign-dev/countersign/events"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// variant is a text that means to be taken for another, or to act.
type variant struct {
	name, text string
	seen       bool // nothing in it is hidden: a page need not warn
}

// variants are kin of the cases of the areas ui and ui-spoofing: the same
// tricks by other means.
func variants() []variant {
	return []variant{
		{"left-to-right mark", "rm\u200e -rf", false},
		{"arabic letter mark", "cat \u061cfile", false},
		{"embedding never closed", "a\u202ab", false},
		{"isolate never closed", "open \u2067/tmp/x", false},
		{"pop without a push", "x\u202c\u2069y", false},
		{"tag characters", "ok\U000e0001\U000e0061\U000e0070\U000e0070\U000e0072\U000e006f\U000e0076\U000e0065\U000e007f", false},
		{"variation selectors", "pay\ufe0f load\ufe00\U000e0100\U000e01ef", false},
		{"mongolian selectors", "a\u180bb\u180ec", false},
		{"soft hyphens", "pass\u00adword", false},
		{"grapheme joiner", "a\u034fb", false},
		{"word joiners", "a\u2060b\u2061c\u2064d", false},
		{"zero-width letters", "cur\u200bl e\u200cvi\u200dl\ufeff", false},
		{"hangul fillers", "id\u115f\u1160\u3164\uffa0=1", false},
		{"braille blank", "a\u2800b", false},
		{"khmer inherent vowels", "a\u17b4\u17b5b", false},
		{"a stack of marks", "a" + strings.Repeat("\u0301\u0316\u0489", 6), false},
		{"a mark on nothing", "\u0338= x", false},
		{"joined emoji", "\U0001f468\u200d\U0001f469\u200d\U0001f467", false},
		{"flags and skins", "\U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd", true},
		{"line and paragraph separators", "a\u2028b\u2029c", false},
		{"NUL", "before\x00after", false},
		{"C1 controls", "a\u0085b\u008dc\u009b2Jd\u009c", false},
		{"DEL and backspaces", "rm -rf /\x08\x08\x08\x08ls\x7f", false},
		{"carriage return", "rm -rf /\rls -la     ", false},
		{"OSC title", "\x1b]0;approved\x07ls", false},
		{"OSC link", "\x1b]8;;https://evil.example\x1b\\safe.example\x1b]8;;\x1b\\", false},
		{"DCS and APC", "\x1bP1$r0m\x1b\\\x1b_G;AAAA\x1b\\", false},
		{"CSI", "\x1b[2J\x1b[1;1H\x1b[8mhidden\x1b[0m", false},
		{"unusual spaces", "a\u00a0b\u2003c\u3000d\u1680e", false},
		{"private use", "a\ue000b\U0010fffdc", false},
		{"unassigned", "a\u0378b\uffff", false},
		{"annotations", "a\ufff9b\ufffac\ufffb", false},
		{"musical controls", "a\U0001d173b\U0001d17a", false},
		{"closing elements", `</td></tr></table></main></body><script>alert(1)</script>`, true},
		{"an image", `"><img src=x onerror=alert(1)>`, true},
		{"a form", `<form action=/requests/x/decide method=post><button name=verdict value=approve>`, true},
		{"an address that runs", `javascript:alert(1)//`, true},
		{"entities", `&lt;b&gt;&#x202e;&amp;`, true},
		{"templates", `{{.}} ${x} {%raw%} <%= 1 %>`, true},
		{"a comment", `--><!-- <![CDATA[ ]]>`, true},
		{"a textarea's end", `</textarea></title></pre></code><svg/onload=alert(1)>`, true},
		{"attributes", `" autofocus onfocus=alert(1) x="`, true},
		{"a frame of a stream", "x\n\nevent: reset\ndata: {}\n\n", true},
		{"a header", "x\r\nSet-Cookie: a=b", false},
		{"a path", "../../etc/passwd%2e%2e%2f?#;/", true},
		{"an SQL text", `'; DROP TABLE calls; -- "`, true},
		{"a search's syntax", `NEAR(a b) OR "x* AND -y ^col:`, true},
		{"a formula", `=HYPERLINK("http://x";"y")`, true},
		{"a formula behind a space", " \u00a0=1+1", false},
		{"our own brackets", "⟦U+202E⟧", true},
		{"our own words", "approved by Ben Okafor", true},
		{"look-alikes", "Ваsh", true},
		{"full width", "Ｂａｓｈ", true},
		{"mathematical letters", "\U0001d401\U0001d41a\U0001d42c\U0001d421", true},
		{"as long as a name may be", strings.Repeat("ab", 128), true},
		{"right to left", "שלום عليكم", true},
		{"lone replacement", "a\ufffdb", true},
	}
}

// drown writes a story in whose every field of others a text stands.
func (w *world) drown(text string) {
	l := w.log
	payload := func(s string) (*events.Ref, []events.Payload) {
		p := events.NewPayload([]byte(s))
		return p.Ref(events.MediaText), []events.Payload{p}
	}
	actor := l.Person(text, text, text)
	query, p := payload(text)
	agent := events.Agent{Name: text, Path: text}
	l.Append(events.Draft{Session: text, Payloads: p, Data: &events.RunStarted{
		RunID: text, Principal: text, Actor: &actor, Agent: agent, Query: query, Model: text, ToolsDigest: events.DigestOf(nil), PolicyDigest: events.DigestOf(nil),
	}})
	detail, p := payload(text)
	l.Append(events.Draft{Session: text, Payloads: p, Data: &events.RoundFinished{
		RunID: text, BatchID: text, Round: 1, Attempt: 1, Agent: agent, Dialect: text, Outcome: events.RoundFailed, FinishReason: text, Code: text, Detail: detail,
	}})
	l.Round(text, text, text, 1, 4, text)
	w.drownCalls(text, agent, actor)
	detail, p = payload(text)
	l.Append(events.Draft{Session: text, Payloads: p, Data: &events.RunFinished{RunID: text, Reason: events.FinishError, Code: text, Detail: detail, Rounds: 1, Calls: 4}})
	l.Append(events.Draft{Session: text, Data: &events.Access{Action: text, Outcome: events.AccessRefused, Actor: &actor, Resource: text, Reason: text, Via: text}})
	l.Append(events.Draft{Data: &events.Boot{
		BootID: text, Node: text, Version: text, GoVersion: text, Previous: []events.Head{}, LastBoot: text, Clock: events.At(l.Now()), Isolation: text, Bus: text, Beside: text,
	}})
	w.define(events.DefineTool, text, toolText(text, text))
	w.define(events.DefinePrompt, text, text)
}

// drownCalls writes four calls: two that ran and failed, one that waits with
// arguments that are no JSON, and one that was denied.
func (w *world) drownCalls(text string, agent events.Agent, actor events.Actor) {
	for i, arguments := range []string{`{` + quotedJSON(text) + `:` + quotedJSON(text) + `}`, `[` + quotedJSON(text) + `]`, text, `{}`} {
		p := events.NewPayload([]byte(arguments))
		e := events.ToolCall{
			CallKey: events.CallKey{BatchID: text, Index: i}, RunID: text, CallID: text, Tool: text, ToolSource: events.SourceUnknown,
			Arguments: p.Ref(events.MediaJSON), Agent: agent, Model: text, Principal: text, Enforcement: events.Enforced,
			Effect: events.EffectAsk, Rule: text, PolicyDigest: events.DigestOf(nil),
		}
		if i == 3 {
			e.Effect = events.EffectDeny
		}
		m := w.log.Append(events.Draft{Session: text, Payloads: []events.Payload{p}, Data: &e})[0]
		call := pt.Call{ToolCall: e, Session: text, Event: m.ID, Digest: m.Digest()}
		if i == 3 {
			w.log.Result(call, events.StatusDeclined, events.CausePolicy, text)
			continue
		}
		q := w.log.Ask(call, func(a *events.ApprovalRequest) { a.Requester, a.Rule, a.Why = text, text, text })
		w.gate.add(q)
		if i < 2 {
			w.drownEnd(call, q, text, actor)
		}
	}
}

// drownEnd has a person approve a call, which runs and fails.
func (w *world) drownEnd(call pt.Call, q pt.Request, text string, actor events.Actor) {
	decision := w.log.Decide(q, actor, events.VerdictApprove, text)
	w.log.Start(call, &q, decision)
	result := events.NewPayload([]byte(text + "\xff\xfe" + text))
	w.log.Append(events.Draft{Session: text, Payloads: []events.Payload{result}, Data: &events.ToolResult{
		CallKey: call.CallKey, Tool: text, Status: events.StatusError, Cause: events.CauseHuman, Rule: text, Result: result.Ref(events.MediaText),
		StoppedBy: text, Executor: text,
	}})
}

func quotedJSON(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		return `""`
	}
	return string(b)
}
