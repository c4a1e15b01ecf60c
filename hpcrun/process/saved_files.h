#pragma once
// Saves files of load modules that are not available after the process has ended, so that the analysis has
// names and lines. These are files unlinked after they were loaded, code in memory files (memfd), a program
// that deleted itself, and all files of a process in another mount namespace than prof's. They are copied to
// the measurement directory.

#include "hpcrun/measurement/format.h"
#include "hpcrun/unwind/modules.h"

namespace hpcrun {

// Records which file the module was loaded from, and returns that. Async-signal-safe.
FileIdentity note_file(const ModuleInfo& module) noexcept;

// Saves the files that are gone, at most 256 MiB. Called at the end of the process, by one thread; not
// async-signal-safe. If the kernel lets only root read a mapped file, its contents in memory are saved
// instead; then functions that the module exports have names. Modules that cannot be saved stay unnamed.
void save_gone_files() noexcept;

}  // namespace hpcrun
