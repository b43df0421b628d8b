package journal

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// pack returns a name as it is stored: a UUID in its canonical form as its 16
// bytes, anything else as text. The two never meet: one is a blob, the other
// text.
func pack(name string) any {
	if len(name) != 36 {
		return name
	}
	id, err := uuid.Parse(name)
	if err != nil || strings.ToLower(name) != name {
		return name
	}
	return id[:]
}

// unpack is the inverse of pack.
func unpack(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []byte:
		id, err := uuid.FromBytes(v)
		if err != nil {
			return "", fmt.Errorf("a name of %d bytes: %w", len(v), err)
		}
		return id.String(), nil
	default:
		return "", fmt.Errorf("a name of type %T", v)
	}
}
