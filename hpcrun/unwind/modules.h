#pragma once
// The load modules of the process and their unwind tables. refresh_modules() runs outside any handler, at
// start-up and after dlopen/dlclose; it compiles .eh_frame/.debug_frame and publishes an immutable
// snapshot. The walk also finds modules that nobody announced (loaded by libc itself, or running their
// constructors inside dlopen) by glibc's lock-free _dl_find_object and announces them from the handler.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

struct ModuleInfo {
  uint16_t id;       // from 1, never reused in a process
  const char* path;  // as the loader has it, the executable resolved; "[vdso]" for the vDSO
  uint64_t start;    // mapped range, [start, end)
  uint64_t end;
  uint64_t load_bias;       // what to subtract from an address to get the ELF file's
  const uint8_t* build_id;  // nullptr when the module has none
  uint32_t build_id_bytes;
};

// Called once for each module as it gets its id, possibly inside a handler: must be async-signal-safe.
using ModuleSink = void (*)(const ModuleInfo&) noexcept;

// Sets the sink and announces all modules known so far through it (again, for a forked child).
void set_module_sink(ModuleSink sink) noexcept;

// Few stacks will be walked: refresh_modules() compiles no tables from now on where walks can do without, at
// half a microsecond for each place of the code that they come by for the first time. Before the first
// refresh.
void expect_few_walks(bool few) noexcept;

// Brings the snapshot up to date with the loader's list. Not async-signal-safe (takes the loader lock through
// dl_iterate_phdr, and a lock of its own); cheap when nothing was loaded or unloaded since.
void refresh_modules() noexcept;

// Tells walks that mappings are about to change (call before and after dlclose): per-thread caches that were
// filled before are not used any more. Async-signal-safe.
void invalidate_walk_caches() noexcept;

// Changes whenever what was found out about code addresses is not to be used any more. Async-signal-safe.
uint32_t walk_generation() noexcept;

// True once a walk met a module that the snapshot does not have; refresh_modules() resets it.
// Async-signal-safe.
bool modules_are_stale() noexcept;

// Before fork in the parent, and after it in the child's only thread: drops locks held by threads that are
// gone. In the child of a process with other threads, or of one that forked as it had the loader's lock,
// refresh_modules() does nothing: nobody may ever release that (loader_lock.h). Walks find what such a child
// loads by themselves.
void modules_before_fork() noexcept;
void modules_after_fork() noexcept;

// Memory of tables and registry, in bytes.
size_t module_table_bytes() noexcept;

}  // namespace hpcrun
