package models

import (
	stdjson "encoding/json"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
)

// chat is what the models of dialect "openai-chat" share.
type chat struct{}

// Dialect implements [agent.Model]: "openai-chat".
func (chat) Dialect() string { return dialect }

// Repair implements [agent.Model]; see [RepairMessage].
func (chat) Repair(message stdjson.RawMessage, repairs []events.Repair) (stdjson.RawMessage, error) {
	ids, arguments := map[int]string{}, map[int]string{}
	kinds := map[string]map[int]string{events.RepairID: ids, events.RepairArguments: arguments}
	for _, r := range repairs {
		to, ok := kinds[r.What]
		if !ok {
			return nil, fmt.Errorf("%w: there is no repair of %q", ErrMessage, r.What)
		}
		if _, twice := to[r.Index]; twice {
			return nil, fmt.Errorf("%w: two repairs of the %s of call %d", ErrMessage, r.What, r.Index)
		}
		to[r.Index] = r.Now
	}
	return RepairMessage(message, ids, arguments)
}

// Text implements [agent.Model]. What cannot be read is "".
func (chat) Text(message stdjson.RawMessage) (text, reasoning string) {
	var whole delta // a message has the members of a delta
	if json.Unmarshal(message, &whole) != nil {
		return "", ""
	}
	whole.ToolCalls = nil
	t := newTurnReader(func(agent.Delta) {})
	if t.delta(whole) != nil {
		return "", ""
	}
	t.flush()
	return t.text.String(), t.reasoning.String()
}
