package isolate

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

// oldModes are the calls of this architecture alone that give a file its mode, by
// the argument that has it.
func oldModes() map[uint32]uint32 {
	return map[uint32]uint32{unix.SYS_CHMOD: 1, unix.SYS_MKDIR: 1, unix.SYS_MKNOD: 1, unix.SYS_CREAT: 1}
}

// oldOpen is open, which takes its flags and its mode.
func oldOpen() []rule { return []rule{{unix.SYS_OPEN, opening(1, 2)}} }
