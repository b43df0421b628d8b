package isolate_test

import (
	"os"
	"testing"

	"github.com/countersign-dev/countersign/internal/isolate"
)

func TestMain(m *testing.M) {
	isolate.Stage()
	os.Exit(m.Run())
}
