package ui_test

import (
	"flag"
	"os"
	"runtime"
	"testing"
)

// together is how many of the tests that wait run at once, on however few
// processors: those in a browser wait for its clocks most of the time.
const together = 4

func TestMain(m *testing.M) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if n := max(together, runtime.GOMAXPROCS(0)); !asked {
		if err := flag.Set("test.parallel", itoa(n)); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	shared.end()
	os.Exit(code)
}
