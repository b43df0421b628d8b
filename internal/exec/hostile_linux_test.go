package exec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// done is the outcome of an attack that did what it should not.
const done = "done"

// hostile runs attacks one after another, in the world and by the names that
// the arguments tell, and prints what came of them.
func hostile(args []string) error {
	var w world
	if err := json.Unmarshal([]byte(args[0]), &w); err != nil {
		return err
	}
	outcomes := map[string]string{}
	for _, name := range args[1:] {
		outcomes[name] = done
		if err := attacks()[name].do(w); err != nil {
			outcomes[name] = err.Error()
		}
	}
	return json.NewEncoder(os.Stdout).Encode(outcomes)
}

// attack does something that a tool must not be able to do.
type attack struct {
	do func(world) error
	// alone says that it succeeds where nothing is shut off, and does no harm
	// there: it is tried. What is not so is never run without a sandbox.
	alone bool
}

func attacks() map[string]attack {
	all := map[string]attack{
		"kill agentd":           {func(w world) error { return unix.Kill(w.Self, 0) }, true},
		"memory of agentd":      {func(w world) error { return opened(fmt.Sprintf("/proc/%d/mem", w.Self), os.O_RDONLY) }, true},
		"environment of agentd": {func(w world) error { return opened(fmt.Sprintf("/proc/%d/environ", w.Self), os.O_RDONLY) }, true},
		"memory of init":        {func(world) error { return opened("/proc/1/mem", os.O_RDONLY) }, false},
		"environment of init":   {func(world) error { return opened("/proc/1/environ", os.O_RDONLY) }, false},
		"descriptors of init":   {func(world) error { _, err := os.Readlink("/proc/1/fd/3"); return err }, false},
		"kernel settings":       {func(world) error { return opened("/proc/sys/kernel/core_pattern", os.O_WRONLY) }, os.Geteuid() == 0},
		"own oom score":         {func(world) error { return opened("/proc/self/oom_score_adj", os.O_WRONLY) }, true},
		"cgroups":               {func(world) error { return os.Mkdir("/sys/fs/cgroup/countersign-test", 0o700) }, false},
		"an inherited file":     {inherited, false},
		"be root":               {func(world) error { return unless(os.Geteuid() == 0, "uid") }, os.Geteuid() == 0},
		"have a terminal":       {func(world) error { return opened("/dev/tty", os.O_RDWR) }, false},
		"a block device":        {func(world) error { return blockDevice() }, false},
		"type into a terminal":  {func(world) error { return sneaky(unix.SYS_IOCTL, 0, unix.TIOCSTI, 0) }, false},
	}
	for _, group := range []map[string]attack{fileAttacks(), networkAttacks(), kernelAttacks()} {
		maps.Copy(all, group)
	}
	return all
}

func fileAttacks() map[string]attack {
	all := map[string]attack{
		"list what is hidden":    {func(w world) error { _, err := os.ReadDir(w.Hidden); return err }, true},
		"uncover what is hidden": {func(w world) error { return os.Chmod(w.Hidden, 0o777) }, true},
		"move what is hidden":    {func(w world) error { return moved(w.Hidden) }, true},
		"new file in hidden":     {func(w world) error { return created(filepath.Join(w.Hidden, "new")) }, true},
		"replace a hidden file":  {func(w world) error { return replaced(w.Config) }, true},
		"hard link to hidden":    {func(w world) error { return linked(w.Secret, filepath.Join(w.Workspace, "hard")) }, true},
		"hard link to outside": {func(w world) error {
			return linked(filepath.Join(w.Outside, "file"), filepath.Join(w.Workspace, "hard"))
		}, true},
		"new file outside":        {func(w world) error { return created(filepath.Join(w.Outside, "new")) }, true},
		"through a link outside":  {func(w world) error { return created(filepath.Join(w.Workspace, "out", "new")) }, true},
		"through dots outside":    {func(w world) error { return created(w.Workspace + "/../outside/new") }, true},
		"write to a file outside": {func(w world) error { return opened(filepath.Join(w.Outside, "file"), os.O_WRONLY) }, true},
		"truncate outside":        {func(w world) error { return os.Truncate(filepath.Join(w.Outside, "file"), 3) }, true},
		"mode of a file outside":  {func(w world) error { return os.Chmod(filepath.Join(w.Outside, "file"), 0o600) }, true},
		"delete outside":          {func(w world) error { return deleted(w.Outside) }, true},
		"replace its own program": {func(world) error { return replaceSelf() }, true},
	}
	for name, path := range map[string]func(world) string{
		"by its name":           func(w world) string { return w.Secret },
		"through a link":        func(w world) string { return filepath.Join(w.Workspace, "link", "journal.db") },
		"through dots":          func(w world) string { return w.Workspace + "/../data/journal.db" },
		"through own root":      func(w world) string { return "/proc/self/root" + w.Secret },
		"through own folder":    func(w world) string { return "/proc/self/cwd/../data/journal.db" },
		"through init's root":   func(w world) string { return "/proc/1/root" + w.Secret },
		"through agentd's root": func(w world) string { return "/proc/" + strconv.Itoa(w.Self) + "/root" + w.Secret },
		"through agentd's place": func(w world) string {
			return "/proc/" + strconv.Itoa(w.Self) + "/task/" + strconv.Itoa(w.Self) + "/root" + w.Secret
		},
		"in another file": func(w world) string { return w.Config },
	} {
		alone := name != "through init's root" // it is the machine's there
		all["read "+name] = attack{func(w world) error { return readSecret(path(w)) }, alone}
		all["write "+name] = attack{func(w world) error { return opened(path(w), os.O_WRONLY) }, alone}
	}
	return all
}

func networkAttacks() map[string]attack {
	return map[string]attack{
		"TCP":                    {func(w world) error { return dialed("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(w.Port))) }, true},
		"TCP to localhost":       {func(w world) error { return dialed("tcp", net.JoinHostPort("localhost", strconv.Itoa(w.Port))) }, true},
		"multipath TCP":          {func(w world) error { return connected(w.Port, unix.SOCK_STREAM, 262) }, false},
		"its port":               {func(w world) error { return bound(w.Free) }, true},
		"a permitted port":       {func(w world) error { return connected(w.Other, unix.SOCK_STREAM, 0) }, true},
		"TCP in a first packet":  {func(w world) error { return fastOpened(w.Port) }, true},
		"SMC":                    {func(world) error { return socketed(43, unix.SOCK_STREAM, 0) }, false},
		"raw packets":            {func(world) error { return socketed(unix.AF_PACKET, unix.SOCK_RAW, 0) }, os.Geteuid() == 0},
		"VM sockets":             {func(world) error { return socketed(unix.AF_VSOCK, unix.SOCK_STREAM, 0) }, false},
		"audit":                  {func(world) error { return socketed(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT) }, false},
		"a socket without path":  {func(w world) error { return dialed("unix", w.Abstract) }, true},
		"a socket in the files":  {func(w world) error { return dialed("unix", w.Socket) }, true},
		"datagrams from a pair":  {func(w world) error { return fromPair(w.Datagram) }, true},
		"packets without a path": {func(w world) error { return dialed("unixgram", w.Datagram) }, true},
	}
}

func kernelAttacks() map[string]attack {
	all := map[string]attack{
		"mount":       {func(w world) error { return unix.Mount("none", w.Workspace, "tmpfs", 0, "") }, false},
		"unmount":     {func(w world) error { return unix.Unmount(w.Hidden, unix.MNT_DETACH) }, false},
		"change root": {func(w world) error { return unix.Chroot(w.Workspace) }, false},
		"new user":    {func(world) error { return sneaky(unix.SYS_UNSHARE, unix.CLONE_NEWUSER) }, false},
		"clone user":  {func(world) error { return sneaky(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD)) }, false},
		"clone3":      {func(world) error { return sneaky(unix.SYS_CLONE3, 0, 0) }, false},
		"set-uid":     {func(w world) error { return setUID(filepath.Join(w.Workspace, "suid")) }, false},
		"node":        {func(w world) error { return unix.Mknod(filepath.Join(w.Workspace, "node"), unix.S_IFBLK|0o600, 254<<8) }, false},
	}
	for name, number := range map[string]uintptr{
		"setns": unix.SYS_SETNS, "ptrace": unix.SYS_PTRACE, "process_vm_readv": unix.SYS_PROCESS_VM_READV, "keyctl": unix.SYS_KEYCTL,
		"bpf": unix.SYS_BPF, "userfaultfd": unix.SYS_USERFAULTFD, "kexec_load": unix.SYS_KEXEC_LOAD, "finit_module": unix.SYS_FINIT_MODULE,
		"io_uring_setup": unix.SYS_IO_URING_SETUP, "memfd_create": unix.SYS_MEMFD_CREATE, "open_tree": unix.SYS_OPEN_TREE,
		"move_mount": unix.SYS_MOVE_MOUNT, "fsopen": unix.SYS_FSOPEN, "mount_setattr": unix.SYS_MOUNT_SETATTR,
		"pivot_root": unix.SYS_PIVOT_ROOT, "pidfd_getfd": unix.SYS_PIDFD_GETFD, "open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT,
		"perf_event_open": unix.SYS_PERF_EVENT_OPEN, "shmget": unix.SYS_SHMGET, "x32": unix.SYS_GETPID | 0x40000000,
	} {
		all[name] = attack{func(world) error { return sneaky(number, ^uintptr(0), ^uintptr(0), ^uintptr(0)) }, false}
	}
	return all
}

// setUID makes a file that runs as its owner, by each call that could.
func setUID(path string) error {
	const mode = unix.S_ISUID | 0o755
	var all []error
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_WRONLY, mode)
	if all = append(all, err); err == nil {
		_ = unix.Close(fd)
	}
	if fd, err = unix.Open(path, unix.O_CREAT|unix.O_WRONLY, 0o755); err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	all = append(all, unix.Fchmod(fd, mode), unix.Chmod(path, mode), unix.Fchmodat(unix.AT_FDCWD, path, mode, 0),
		sneaky(unix.SYS_FCHMODAT2, ^uintptr(0), 0, mode), unix.Mknod(path+"2", unix.S_IFREG|mode, 0), unix.Mkdir(path+"3", unix.S_ISGID|0o755))
	for _, err := range all {
		if err == nil {
			return nil
		}
	}
	return errors.Join(all...)
}

// sneaky makes a system call whose arguments are nonsense: only the filter
// refuses it as not permitted, or as unknown.
func sneaky(number uintptr, args ...uintptr) error {
	var all [3]uintptr
	copy(all[:], args)
	_, _, errno := unix.RawSyscall(number, all[0], all[1], all[2])
	if errno == unix.EPERM || errno == unix.ENOSYS {
		return errno
	}
	return nil // whatever it said, the kernel looked at it
}

func unless(bad bool, what string) error {
	if bad {
		return nil
	}
	return errors.New(what)
}
