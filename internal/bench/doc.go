// Package bench measures Countersign beside what the machine could do at most,
// and prints one table: make bench.
//
// Absolute figures move by a factor of three with what else the machine does;
// ratios hardly. So every figure stands beside its physical limit, which is
// measured in the same run, in turn with ours, on the same disk and with as
// many bytes: a plain append and fdatasync, a loopback HTTP echo. A row is the
// median of the rounds, p99 is held against p99, and what is measured through a
// socket has a limit that goes through a socket.
//
//	rows, err := bench.Run(ctx, bench.Options{Out: os.Stdout, Rounds: 5})
//
// The parts measure:
//
//   - append: the journal beside a log with the same group commit (see rawLog);
//   - start: from a posted decision to the moment when the tool begins, in a
//     house put together as agentd puts it together, over TCP;
//   - free: from a model's turn to its next request, for calls that nobody is
//     asked about;
//   - isolation: from the start of a command in a sandbox to its end, beside
//     fork and exec of the same command;
//   - boot: the real agentd on a generated journal, as a process;
//   - memory: that process idle, with thousands of calls that wait, and with a
//     thousand clients that read streams on top;
//   - streams: from an append until a thousand browsers know of it;
//   - rebuild: all views of a generated log, search included;
//   - pages: each page of the console on such a log, over TCP;
//   - searches: a list of them, from rare words to what stands nowhere.
//
// Nothing here asserts a time: a busy machine must not fail a build.
package bench
