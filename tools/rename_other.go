//go:build !linux

package tools

import "os"

// renameNew and exchange are what only Linux does with files of any kind.
func renameNew(*os.Root, string, string) error { return errUnsupported }

func exchange(*os.Root, string, string) error { return errUnsupported }
