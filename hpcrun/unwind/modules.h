#pragma once
// Tracks the load modules of the process and their unwind tables. refresh_modules() runs outside any handler,
// at start-up and after dlopen/dlclose. It compiles .eh_frame/.debug_frame and publishes an immutable
// snapshot. The walk also finds modules that are not in the snapshot yet (loaded by libc itself, or running
// their constructors inside dlopen) with glibc's lock-free _dl_find_object, and announces them from the
// handler.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

struct ModuleInfo {
  uint16_t id;       // from 1, never reused within a process
  const char* path;  // the loader's name, resolved for the executable; "[vdso]" for the vDSO
  uint64_t start;    // mapped range, [start, end)
  uint64_t end;
  uint64_t load_bias;       // subtracted from an address to get the ELF file's
  const uint8_t* build_id;  // nullptr if the module has none
  uint32_t build_id_bytes;
};

// Called once for each module as it gets its id, possibly in a handler: must be async-signal-safe.
using ModuleSink = void (*)(const ModuleInfo&) noexcept;

// Sets the sink and announces all known modules to it. Modules are announced again to a sink set later, as in
// a forked child.
void set_module_sink(ModuleSink sink) noexcept;

// Announces that few stacks will be walked. refresh_modules() then compiles no table if walks can use an
// index instead, at half a microsecond for each code address that is new to them. Must be called before the
// first refresh.
void expect_few_walks(bool few) noexcept;

// Brings the snapshot up to date with the loader's list. Not async-signal-safe: it takes the loader lock
// through dl_iterate_phdr, and a lock of its own. Cheap if nothing was loaded or unloaded since.
void refresh_modules() noexcept;

// Invalidates what per-thread caches hold now. Must be called before and after dlclose, which changes
// mappings. Async-signal-safe.
void invalidate_walk_caches() noexcept;

// Returns a number that changes whenever earlier results about code addresses become invalid.
// Async-signal-safe.
uint32_t walk_generation() noexcept;

// True if a walk found a module that is not in the snapshot; refresh_modules() resets it. Async-signal-safe.
[[nodiscard]] bool modules_are_stale() noexcept;

// Must be called before fork in the parent, and after it in the child's only thread: releases locks of
// threads that no longer exist. In the child, refresh_modules() does nothing if the parent had other threads,
// or if it forked while it held the loader's lock: that lock may never be released (loader_lock.h). Walks
// find modules that such a child loads by themselves.
void modules_before_fork() noexcept;
void modules_after_fork() noexcept;

// Returns the memory of tables and registry, in bytes.
size_t module_table_bytes() noexcept;

}  // namespace hpcrun
