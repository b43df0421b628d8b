//go:build amd64 || arm64

package isolate

import (
	"errors"
	"maps"
	"math"
	"slices"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// filter puts a seccomp filter on all threads of init, and so on whatever they
// start. It allows all calls but those listed here: what a command needs is
// not known, what it must not do is. Calls of another architecture, whose
// numbers mean something else, kill.
func filter() error {
	program, err := bpf.Assemble(instructions())
	if err != nil {
		return err
	}
	if len(program) > math.MaxUint16 {
		return errors.New("the filter is too long")
	}
	raw := make([]unix.SockFilter, len(program))
	for i, in := range program {
		raw[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	prog := unix.SockFprog{Len: uint16(len(raw)), Filter: &raw[0]}                                                                              //nolint:gosec // bounded above
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog))) //nolint:gosec // as the kernel wants it
	if errno != 0 {
		return errno
	}
	return nil
}

// seccompKnows asks the kernel whether it has an action of filters.
func seccompKnows(action *uint32) error {
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(action))) //nolint:gosec // as the kernel wants it
	if errno != 0 {
		return errno
	}
	return nil
}

// Where struct seccomp_data has what is judged. Arguments have 64 bits; the
// kernel reads the lower 32 of those that are judged here, which come first on
// the little-endian machines that this is built for.
const (
	numberAt = 0
	archAt   = 4
	argsAt   = 16
)

// x32 is the bit of calls of the x32 architecture, which has that of amd64.
const x32 = 0x40000000

func instructions() []bpf.Instruction {
	all := []bpf.Instruction{
		bpf.LoadAbsolute{Off: archAt, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS},
		bpf.LoadAbsolute{Off: numberAt, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: x32, SkipFalse: 1},
		refuse(unix.EPERM),
	}
	for _, number := range forbidden() {
		all = append(all, when(number, refuse(unix.EPERM))...)
	}
	// Its flags are in memory, out of sight; who gets ENOSYS takes clone.
	all = append(all, when(unix.SYS_CLONE3, refuse(unix.ENOSYS))...)
	all = append(all, when(unix.SYS_OPENAT2, refuse(unix.ENOSYS))...) // its mode is in memory, too
	for _, r := range slices.Concat(rules(), modes()) {
		all = append(all, when(r.number, append(r.body, allow())...)...)
	}
	return append(all, allow())
}

// rule judges a call by its arguments. The body ends in a return or falls off
// its end, and then the call is allowed.
type rule struct {
	number uint32
	body   []bpf.Instruction
}

func rules() []rule {
	const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	return []rule{
		{unix.SYS_CLONE, ifBits(0, newNamespaces, refuse(unix.EPERM))},
		// Typing into a terminal on behalf of who sits at it.
		{unix.SYS_IOCTL, join(ifEqual(1, unix.TIOCSTI, refuse(unix.EPERM)), ifEqual(1, tiocLinux, refuse(unix.EPERM)))},
		{unix.SYS_SOCKET, socketRule()},
		// Only pairs that can never be connected to anything else.
		{unix.SYS_SOCKETPAIR, join(unlessOne(0, allBits, refuse(unix.EAFNOSUPPORT), unix.AF_UNIX), unlessOne(1, 0xf, refuse(unix.EPROTONOSUPPORT), unix.SOCK_STREAM, unix.SOCK_SEQPACKET))},
		// Connecting without connect, past Landlock.
		{unix.SYS_SENDTO, ifBits(3, unix.MSG_FASTOPEN, refuse(unix.EPERM))},
		{unix.SYS_SENDMSG, ifBits(2, unix.MSG_FASTOPEN, refuse(unix.EPERM))},
		{unix.SYS_SENDMMSG, ifBits(3, unix.MSG_FASTOPEN, refuse(unix.EPERM))},
	}
}

// setID are the bits by which a program runs as its owner or group. What a command
// leaves in the workspace is agentd's user's on the host.
const setID = unix.S_ISUID | unix.S_ISGID

// modes keep files from being set-uid or set-gid.
func modes() []rule {
	all := append(oldOpen(), rule{unix.SYS_OPENAT, opening(2, 3)})
	calls := map[uint32]uint32{unix.SYS_FCHMOD: 1, unix.SYS_FCHMODAT: 2, unix.SYS_FCHMODAT2: 2, unix.SYS_MKDIRAT: 2, unix.SYS_MKNODAT: 2}
	maps.Copy(calls, oldModes())
	for number, arg := range calls {
		all = append(all, rule{number, ifBits(arg, setID, refuse(unix.EPERM))})
	}
	return all
}

// opening judges the mode of what an open makes: without these flags there is
// anything in its place.
func opening(flags, mode uint32) []bpf.Instruction {
	const temporary = unix.O_TMPFILE &^ unix.O_DIRECTORY
	return ifBits(flags, unix.O_CREAT|temporary, ifBits(mode, setID, refuse(unix.EPERM))...)
}

// socketRule allows TCP, UDP and ping, and the netlink that tells addresses. A
// unix socket could reach every service of this machine that listens in the
// file system, whatever network there is; other families and protocols are
// ways around Landlock's rules for TCP.
func socketRule() []bpf.Instruction {
	netlink := join(unlessOne(2, allBits, refuse(unix.EPROTONOSUPPORT), unix.NETLINK_ROUTE), []bpf.Instruction{allow()})
	return join(
		ifEqual(0, unix.AF_NETLINK, netlink...),
		unlessOne(0, allBits, refuse(unix.EAFNOSUPPORT), unix.AF_INET, unix.AF_INET6),
		unlessOne(1, 0xf, refuse(unix.EPROTONOSUPPORT), unix.SOCK_STREAM, unix.SOCK_DGRAM),
		unlessOne(2, allBits, refuse(unix.EPROTONOSUPPORT), 0, unix.IPPROTO_TCP, unix.IPPROTO_UDP, unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6),
	)
}

const (
	tiocLinux = 0x541c
	allBits   = math.MaxUint32
)

// when runs the body for one call, and skips it for others.
func when(number uint32, body ...bpf.Instruction) []bpf.Instruction {
	return append([]bpf.Instruction{
		bpf.LoadAbsolute{Off: numberAt, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: number, SkipTrue: uint8(len(body))}, //nolint:gosec // all bodies are short
	}, body...)
}

func ifEqual(arg uint32, value uint32, body ...bpf.Instruction) []bpf.Instruction {
	return append([]bpf.Instruction{
		load(arg),
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: value, SkipTrue: uint8(len(body))}, //nolint:gosec // all bodies are short
	}, body...)
}

func ifBits(arg uint32, bits uint32, body ...bpf.Instruction) []bpf.Instruction {
	return append([]bpf.Instruction{
		load(arg),
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: bits, SkipTrue: uint8(len(body))}, //nolint:gosec // all bodies are short
	}, body...)
}

// unlessOne runs one instruction unless the argument's bits are one of the values.
func unlessOne(arg, bits uint32, otherwise bpf.Instruction, values ...uint32) []bpf.Instruction {
	all := []bpf.Instruction{load(arg), bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: bits}}
	for i, value := range values {
		all = append(all, bpf.JumpIf{Cond: bpf.JumpEqual, Val: value, SkipTrue: uint8(len(values) - i)}) //nolint:gosec // a few values
	}
	return append(all, otherwise)
}

func load(arg uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: argsAt + 8*arg, Size: 4} }

func allow() bpf.Instruction { return bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW} }

func refuse(errno unix.Errno) bpf.Instruction {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)} //nolint:gosec // a small number
}

func join(lists ...[]bpf.Instruction) []bpf.Instruction {
	var all []bpf.Instruction
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}
