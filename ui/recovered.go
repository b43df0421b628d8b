package ui

import (
	"github.com/countersign-dev/countersign/events"
)

// recoveredWords says what a process found open at its start.
func recoveredWords(e *events.Recovered) string {
	calls := count(len(e.Calls), "call", "calls")
	switch {
	case e.Rollback == nil:
		return "After a restart: " + calls + " had started and never ended: nobody knows how far they came"
	case len(e.Calls) > 0:
		return "After a rollback: " + calls + " may have been started in the part of the log that is lost"
	}
	r := e.Rollback
	words := "The log was rolled back, and the loss was accepted: " + noter(r.By) + " remembered " + group(r.Records) + " records, "
	switch r.Kind {
	case events.RollbackShorter:
		return words + "the log had " + group(sizeOf(r.Found))
	case events.RollbackRewritten:
		return words + "the log had other ones"
	case events.RollbackOther:
		return words + "of another log"
	}
	return words + "the log differed"
}

// noter names what remembered more than the log has.
func noter(by string) string {
	if by == events.NotedByHeadFile {
		return "the head file"
	}
	return "gate.db"
}

func sizeOf(heads []events.Head) (n uint64) {
	for _, h := range heads {
		n += h.Size
	}
	return n
}
