package events

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
)

// The classes of errors of decoding. What they wrap names the place.
var (
	ErrMalformed      = errors.New("malformed event")
	ErrUnknownType    = errors.New("unknown event type")
	ErrUnknownVersion = errors.New("unknown event version")
)

// newEvent is the one table of types and versions: an empty value to decode
// into, or nil where this build knows neither.
func newEvent(t Type, version int) Event { //nolint:gocyclo // a table
	if version < 1 || version > t.Version() {
		return nil
	}
	switch t {
	case TypeToolCall:
		return &ToolCall{}
	case TypeApprovalRequest:
		return &ApprovalRequest{}
	case TypeRevision:
		return &Revision{}
	case TypeDecision:
		return &Decision{}
	case TypeRevocation:
		return &Revocation{}
	case TypeToolStarted:
		return &ToolStarted{}
	case TypeToolResult:
		return &ToolResult{}
	case TypeRunStarted:
		return &RunStarted{}
	case TypeRunCancelled:
		return &RunCancelled{}
	case TypeRunFinished:
		return &RunFinished{}
	case TypeRoundFinished:
		return &RoundFinished{}
	case TypeSubagentStarted:
		return &SubagentStarted{}
	case TypeSubagentFinished:
		return &SubagentFinished{}
	case TypeDefinition:
		return &Definition{}
	case TypePerson:
		return &Person{}
	case TypeBoot:
		return &Boot{}
	case TypeAlive:
		return &Alive{}
	case TypeShutdown:
		return &Shutdown{}
	case TypeClockStep:
		return &ClockStep{}
	case TypeRecovered:
		return &Recovered{}
	case TypeAccess:
		return &Access{}
	case TypeCheckpoint:
		return &Checkpoint{}
	default:
		return nil
	}
}

// AllTypes returns every type that this build knows, in the order of the
// design's table.
func AllTypes() []Type {
	return []Type{
		TypeToolCall, TypeApprovalRequest, TypeRevision, TypeDecision, TypeRevocation, TypeToolStarted, TypeToolResult,
		TypeRunStarted, TypeRunCancelled, TypeRunFinished, TypeRoundFinished, TypeSubagentStarted, TypeSubagentFinished,
		TypeDefinition, TypePerson, TypeBoot, TypeAlive, TypeShutdown, TypeClockStep, TypeRecovered, TypeAccess, TypeCheckpoint,
	}
}

// Version returns the newest version of a type that this build mints and reads.
// It reads all before; which one an event is minted in follows from what it says.
func (t Type) Version() int {
	if t == TypeRecovered {
		return 2
	}
	return 1
}

// versionOf returns the version in which an event is minted.
func versionOf(e Event) int {
	if v, ok := e.(interface{ version() int }); ok {
		return v.version()
	}
	return 1
}

// critical reports whether an event moves folds: by its type, or by its version.
func critical(e Event) bool {
	return e.Type().Critical() || e.Type() == TypeRecovered && versionOf(e) > 1
}

// Known reports whether this build knows the type in any version.
func (t Type) Known() bool { return newEvent(t, t.Version()) != nil }

// Critical reports whether events of the type move folds, in every version, so
// that a reader that does not know one must not go on as if it were not there. Of
// TypeRecovered version 2 alone does.
func (t Type) Critical() bool {
	switch t {
	case TypeToolCall, TypeApprovalRequest, TypeRevision, TypeDecision, TypeRevocation, TypeToolStarted, TypeToolResult,
		TypeRunStarted, TypeRunCancelled, TypeRunFinished, TypeRoundFinished, TypeSubagentStarted, TypeSubagentFinished:
		return true
	case TypeDefinition, TypePerson, TypeBoot, TypeAlive, TypeShutdown, TypeClockStep, TypeRecovered, TypeAccess, TypeCheckpoint:
		return false
	default: // of a later build: its envelope says
		return false
	}
}

// DecodeData reads the data of an event. It refuses unknown, repeated, missing
// and differently-cased members, nulls, and values that the schema does not
// allow. Its errors are ErrUnknownType, ErrUnknownVersion and ErrMalformed.
func DecodeData(t Type, version int, data []byte) (Event, error) {
	e := newEvent(t, version)
	if e == nil {
		if t.Known() {
			return nil, fmt.Errorf("%w: %s version %d, this build reads up to %d", ErrUnknownVersion, t, version, t.Version())
		}
		return nil, fmt.Errorf("%w: %.80q", ErrUnknownType, string(t))
	}
	if err := decodeInto(e, data); err != nil {
		return nil, fmt.Errorf("%w: data of %s: %w", ErrMalformed, t, err)
	}
	if of := versionOf(e); of != version {
		return nil, fmt.Errorf("%w: data of %s is that of version %d, not %d", ErrMalformed, t, of, version)
	}
	return e, nil
}

func decodeInto(e Event, data []byte) error {
	if err := json.Unmarshal(data, e, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	if err := shapes()[e.Type()].checkPresence(data); err != nil {
		return err
	}
	return check(e)
}

// check reports the first thing in an event that its schema does not allow.
func check(e Event) error {
	if e == nil || reflect.ValueOf(e).IsNil() {
		return errors.New("there is no event")
	}
	for _, r := range e.refs() {
		if err := r.check(); err != nil {
			return err
		}
	}
	return e.check()
}

// Refs returns the payload references of an event, in the order of its fields.
// References that are not set are left out.
func Refs(e Event) []*Ref {
	set := make([]*Ref, 0, 2)
	for _, r := range e.refs() {
		if r != nil {
			set = append(set, r)
		}
	}
	return set
}
