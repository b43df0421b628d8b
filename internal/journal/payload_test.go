package journal

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestPayloadsComeBackToTheByte(t *testing.T) {
	texts := []string{"", "arguments", "before\x00middle\x00after", "\xff\xfe", string(make([]byte, 300<<10))}
	both(t, func(t *testing.T, o Options) {
		j, _ := running(t, o)
		e := entry("one", texts...)
		appended(t, j, Ends, entry("one"), e)
		for i, text := range texts {
			got, err := j.Payload(t.Context(), 0, e.ID, e.Payloads[i].Ref("text/plain").Commitment)
			require.NoError(t, err)
			require.Equal(t, text, string(got.Bytes))
			require.Equal(t, e.Payloads[i].Salt, got.Salt)
		}
		verified(t, j)
	})
}

func TestPayloadErrors(t *testing.T) {
	j, _ := running(t, Options{Path: t.TempDir() + "/journal.db"})
	kept, gone, broken := entry("one", "kept"), entry("one", "gone"), entry("one", "broken")
	appended(t, j, Ends, kept, gone, broken)
	tamper(t, j.o.Path,
		`DROP TRIGGER payloads_no_delete`, `DELETE FROM payloads WHERE bytes = x'676f6e65'`,
		`DROP TRIGGER payloads_no_update`, `UPDATE payloads SET bytes = x'00' WHERE bytes = x'62726f6b656e'`)
	j.recent = newRecent() // as if it had been long ago
	commitment := func(e Entry) string { return e.Payloads[0].Ref("text/plain").Commitment }
	for name, test := range map[string]struct {
		id, commitment string
		want           error
	}{
		"there":                      {kept.ID, commitment(kept), nil},
		"another event's":            {kept.ID, commitment(gone), ErrNotFound},
		"not a commitment":           {kept.ID, "x", ErrNotFound},
		"of an unknown event":        {uuid.NewString(), commitment(kept), ErrNotFound},
		"erased":                     {gone.ID, commitment(gone), ErrErased},
		"does not open its contents": {broken.ID, commitment(broken), ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := j.Payload(t.Context(), 0, test.id, test.commitment)
			require.ErrorIs(t, err, test.want)
		})
	}
}
