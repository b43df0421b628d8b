package isolate

import (
	"fmt"
	"strings"
)

// Part is something that isolation uses.
type Part struct {
	// Name is a short name, such as "user namespaces".
	Name string `json:"name"`
	// OK says that the machine has it.
	OK bool `json:"ok"`
	// Needed says that there is no isolation without it.
	Needed bool `json:"needed"`
	// Detail is what was found, or the error.
	Detail string `json:"detail"`
	// Remedy is what to do about it; empty where nothing is missing.
	Remedy string `json:"remedy,omitempty"`
}

// Machine is what a machine can do; Probe finds out.
type Machine struct {
	Parts []Part `json:"parts"`
}

// Missing returns the parts that isolation needs and that are not there.
func (m Machine) Missing() []Part {
	var missing []Part
	for _, p := range m.Parts {
		if p.Needed && !p.OK {
			missing = append(missing, p)
		}
	}
	return missing
}

// networkPart names the part that NetworkHost needs, and nothing else does.
const networkPart = "network host"

// cannot says what is missing for a network as an error, or nil. A machine that
// nobody probed can do nothing.
func (m Machine) cannot(network Network) error {
	if len(m.Parts) == 0 {
		return fmt.Errorf("%w: it was not probed", ErrCannot)
	}
	missing := m.Missing()
	for _, p := range m.Parts {
		if network == NetworkHost && p.Name == networkPart && !p.OK {
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	var said []string
	for _, p := range missing {
		said = append(said, fmt.Sprintf("%s: %s (%s)", p.Name, p.Detail, p.Remedy))
	}
	return fmt.Errorf("%w: %s", ErrCannot, strings.Join(said, "; "))
}
