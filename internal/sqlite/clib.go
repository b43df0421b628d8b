package sqlite

/*
#include <stdlib.h>
#include <string.h>

extern char *sqlite3_temp_directory;

// The first one stays: SQLite may be reading it. Where it is gone, SQLite goes on
// to the system's.
static void tempIn(char *dir) {
	char *mine = strdup(dir);
	if (!__sync_bool_compare_and_swap(&sqlite3_temp_directory, NULL, mine)) free(mine);
}

#ifdef __GLIBC__
#include <malloc.h>
static void trim(void) { malloc_trim(0); }
#else
static void trim(void) {}
#endif
*/
import "C"

import "unsafe"

// Trim gives back to the system what SQLite has freed. The C library of most
// Linux systems keeps it, in an arena for each thread that ever ran a statement:
// after work that took much and is done, tens of megabytes. It takes some
// milliseconds.
func Trim() { C.trim() }

// sortIn has sorts that are too large for memory go to a folder, which is where
// there is room for what is sorted. The system's own folders for what is
// temporary may be small, or missing.
func sortIn(dir string) {
	name := C.CString(dir)
	defer C.free(unsafe.Pointer(name))
	C.tempIn(name)
}
