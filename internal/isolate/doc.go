// Package isolate shuts a tool's process off from agentd.
//
// What runs as a tool is foreign code with agentd's own rights: unless it is
// shut off it can read the journal, the tokens and the policy, rewrite them,
// take agentd's port, stop agentd, and so approve itself. A [Sandbox] starts a
// command so that none of this is in its world:
//
//	isolate.Stage() // the first line of main: this binary is also the sandbox's init
//	machine := isolate.Probe(ctx)
//	sandbox, err := isolate.New(machine, isolate.Config{Hidden: ours, Writable: []string{workspace}})
//	child, err := sandbox.Start(isolate.Spec{Argv: argv, Dir: workspace, Env: env, Files: stdio})
//
// internal/exec is the caller; nothing else starts a command.
//
// # How a command starts
//
//  1. Start clones this binary into a user, mount, PID, IPC, UTS, cgroup and,
//     unless Network says otherwise, network namespace of its own.
//  2. There it is process 1, the init. It maps one user and group, agentd's, to
//     an ordinary user, so that files in the workspace stay agentd's.
//  3. It makes the whole file system read-only but the workspace, puts a bounded
//     file system in memory over /tmp, a new /proc, a small /dev, nothing over
//     /run, and an empty, unreadable folder or file over everything hidden.
//  4. It gives up every capability, sets no_new_privs, and puts Landlock and a
//     seccomp filter on the thread that starts the command.
//  5. It starts the command, buries orphans, watches memory and processes, and
//     reports how the command ended and what it left running.
//
// When init dies, the kernel kills every process in its PID namespace, however
// it daemonised; init dies when it is killed, and when agentd is gone.
//
// # Two walls
//
// A hidden path is covered by a mount, and Landlock does not allow reading
// it: Landlock's rules name what lies beside the hidden paths, so that also a
// file that replaces a hidden one meanwhile cannot be read. Other mounts that
// show the same files are found in mountinfo and covered as well. Hard links
// cannot be found; [New] refuses hidden files that have any.
//
// # What is not shut off
//
// The rest of the file system can be read, as agentd's user can. With
// [NetworkHost] the outside can be reached on the ports that the configuration
// names. A kernel with a hole in what an ordinary user may do is not defended
// against.
package isolate
