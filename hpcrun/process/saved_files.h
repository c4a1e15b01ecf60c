#pragma once
// Files of load modules that nobody finds any more when the process has ended: unlinked after they were
// loaded, code in memory files (memfd), a program that deleted itself, and all files of a process in another
// mount namespace than prof's. They are saved in the measurement directory, so that the analysis knows names
// and lines.

#include "hpcrun/measurement/format.h"
#include "hpcrun/unwind/modules.h"

namespace hpcrun {

// Keeps in mind which file the module was loaded from, and returns that. Async-signal-safe.
FileIdentity note_file(const ModuleInfo& module) noexcept;

// Saves what is gone, at most 256 MiB. At the end of the process, by one thread; not async-signal-safe. Where
// the kernel lets nobody but root read a mapped file, what lies in memory is saved: functions that the module
// exports have names then. What cannot be saved stays unnamed.
void save_gone_files() noexcept;

}  // namespace hpcrun
