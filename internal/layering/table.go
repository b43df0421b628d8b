package layering

// Everything in a row's May stands for all rows above it.
const Everything = "everything above"

// Table returns the package map, from the bottom up: a row may name only rows
// above it. A folder below a row's belongs to that row, unless it has a row of
// its own. Rows after fold may import events and fold without saying so.
func Table() []Row {
	return []Row{
		{Folder: "events"},
		{Folder: "fold", May: []string{"events"}, Pure: true},

		// Plumbing that knows nothing of calls and decisions.
		{Folder: "internal/sqlite"},
		{Folder: "internal/isolate"},
		{Folder: "internal/exec", May: []string{"internal/isolate"}},
		{Folder: "internal/config"},
		{Folder: "internal/seats"},
		{Folder: "internal/instruments"},
		{Folder: "internal/auth", May: []string{"internal/sqlite"}},

		// The log.
		{Folder: "ledger", Pure: true},
		{Folder: "internal/journal", May: []string{"ledger", "internal/sqlite", "internal/instruments"}},
		{Folder: "internal/bus", May: []string{"internal/journal", "internal/instruments"}},

		// What decides. The gate's log is an interface of its own, and it
		// decides also where there are no tools: it knows no agent.
		{Folder: "policy", Pure: true},
		{Folder: "gate", May: []string{"policy", "internal/sqlite", "internal/instruments"}},

		// What asks.
		{Folder: "agent", May: []string{"gate", "internal/instruments"}},
		{Folder: "models", May: []string{"agent"}},
		{Folder: "tools", May: []string{"agent", "internal/exec", "internal/isolate"}},
		{Folder: "internal/generate", May: []string{"internal/journal", "policy", "agent", "tools"}},

		// What shows. The console reaches the gate through an interface of
		// one method, and projections read the journal through one as well.
		{Folder: "projections", May: []string{"policy", "ledger", "internal/sqlite"}},
		{Folder: "api", May: []string{"agent", "gate", "projections", "internal/auth", "internal/seats", "internal/instruments"}},
		{Folder: "ui", May: []string{"projections", "internal/auth", "internal/seats", "internal/instruments"}},

		// Log and gate for other people's programs; then the wiring of ours.
		{Folder: ".", May: []string{"policy", "internal/journal", "internal/bus", "internal/instruments", "gate"}},
		{Folder: "cmd", May: []string{Everything}},

		// Tools of the house: in no binary, since nobody above may import them.
		{Folder: "internal/cases", May: []string{Everything}},
		{Folder: "internal/bench", May: []string{Everything}},
		{Folder: "internal/layering"},
	}
}

// Keepers returns what is kept for some packages.
func Keepers() []Keeper {
	return []Keeper{
		{
			Path: "github.com/ThreeDotsLabs", For: []string{"internal/bus", "cmd"}, Tests: true,
			Why: "the broker is plumbing; publish and read through the journal's and the gate's own interfaces",
		},
		{
			Path: "github.com/mattn/go-sqlite3", For: []string{"internal/sqlite"}, Tests: true,
			Why: "open databases through internal/sqlite, which sets and asserts what durability needs",
		},
		{
			Path: "os/exec", For: []string{"internal/exec", "internal/cases", "internal/bench"},
			Why: "every process that is not agentd is started in one place, where it is shut off and killed",
		},
	}
}
