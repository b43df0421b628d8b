package config

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

// FuzzParse: whatever the bytes, parsing ends without panic, an error is an
// *Error of one line, and what was accepted prints as what loads again.
func FuzzParse(f *testing.F) {
	full, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(full), "", "a: &x [*x]", "? - a\n: b", "log: {level: info", "bus: memory\n---\n", "\xef\xbb\xbfbus: memory", "- !!binary x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parse("f.yaml", "/srv/f.yaml", b)
		if err != nil {
			var wrong *Error
			if !errors.As(err, &wrong) || strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("not an *Error of one line: %q", err)
			}
			return
		}
		var printed bytes.Buffer
		if err := c.Print(&printed); err != nil {
			t.Fatal(err)
		}
		again, err := parse("p.yaml", "/srv/p.yaml", printed.Bytes())
		if err != nil {
			t.Fatalf("%v\n%s", err, printed.String())
		}
		if !bytes.Equal(c.Document(), again.Document()) {
			t.Fatalf("printed otherwise:\n%s\n%s", c.Document(), again.Document())
		}
	})
}
