#pragma once
// Unwind tables as files that the processes of one run share: each module is compiled by the first process
// that has it, and mapped by the others. Programs that start hundreds of processes (make, configure, shells)
// would spend most of their time in compilers of tables otherwise. Outside handlers only.
//
// A file is written under another name first and renamed: it is whole or it is not there. It is only for
// processes of this very runtime, and goes with the run.

#include "hpcrun/unwind/registry.h"
#include "hpcrun/unwind/table.h"

namespace hpcrun {

// From now on tables are shared in this folder. Where there is none, or its path is longer than 4,096 bytes,
// nothing is shared.
void share_tables_in(const char* path) noexcept;

// The table that another process left for the image; nullptr when there is none, or the file is not to be
// trusted: of another user, of another layout, shorter than it says.
const UnwindTable* find_shared_table(const ImageDescription& image) noexcept;

// Leaves the table for others. Nothing happens where it is too small to be worth it, the image has no build
// id, or the file cannot be written.
void share_table(const ImageDescription& image, const UnwindTable& table) noexcept;

// Mapped for shared tables, in bytes.
size_t shared_table_bytes() noexcept;

}  // namespace hpcrun
