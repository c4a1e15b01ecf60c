#pragma once
// Shares unwind tables between the processes of one run, as files. The first process that loads a module
// compiles its table; the others map it. Otherwise, programs that start hundreds of processes (make,
// configure, shells) would spend most of their time compiling tables. Must not be used in handlers.
//
// A file is written under another name and then renamed, so it is either complete or absent. It is valid for
// processes with the same runtime only, and is deleted with the run.

#include "hpcrun/unwind/registry.h"
#include "hpcrun/unwind/table.h"

namespace hpcrun {

// Sets the folder to share tables in. Nothing is shared if it does not exist, or if its path is longer than
// 4,096 bytes.
void share_tables_in(const char* path) noexcept;

// Returns the table that another process wrote for the image. Returns nullptr if there is none, or if the
// file is not trusted: it has another owner or layout, or is shorter than its header states.
const UnwindTable* find_shared_table(const ImageDescription& image) noexcept;

// Writes the table for other processes. Does nothing if the table is too small to be worth it, the image has
// no build ID, or the file cannot be written.
void share_table(const ImageDescription& image, const UnwindTable& table) noexcept;

// Returns the bytes mapped for shared tables.
size_t shared_table_bytes() noexcept;

}  // namespace hpcrun
