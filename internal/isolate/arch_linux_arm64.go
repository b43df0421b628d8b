package isolate

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// oldModes: this architecture has no such calls.
func oldModes() map[uint32]uint32 { return nil }

// oldOpen: this architecture has openat alone.
func oldOpen() []rule { return nil }
