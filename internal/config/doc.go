// Package config reads the one strict configuration file of both binaries,
// with the environment and the flags over it.
//
// A value comes from the first of these that gives it: a flag, an environment
// variable, the file, the default.
//
//	loader := config.Loader{Environ: os.Environ(), WorkDir: dir}
//	loader.Flags(fs)                    // --config, --print-config, --addr, ...
//	if err := fs.Parse(args); err != nil { ... }
//	cfg, err := loader.Load()           // every error is an *Error: exit code 2
//
// Strict means that nothing is accepted and ignored. An unknown key, a
// duplicate one, a value of another type, an anchor, an alias, a tag or a second
// document is an error of one line that says file, line, key and what was
// expected. A key or value whose part this version does not have is refused as
// "not in this version".
//
// Only single values outside chat.hitl, auth and tools can come from the
// environment (COUNTERSIGN_CHAT_MAX_ROUNDS is chat.max-rounds) or from a flag
// (--chat-max-rounds). Policy and people never can: who may start a process with
// another environment must not be able to open the gate. A COUNTERSIGN_ variable
// that means nothing is refused by its name, because a misspelt override that is
// silently inert is worse than a program that does not start.
//
// Relative paths are relative to the folder of the file, those of flags and
// environment (and all, without a file) to the working directory.
//
// A Config carries where each of its values came from, so that a part that
// refuses one later (the policy compiler, say) can say so in the same form:
// see Config.Blame.
package config
