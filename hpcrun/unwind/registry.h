#pragma once
// Holds what the walk reads: the published snapshot of loaded modules, and the registry of module identities,
// which assigns ids. The refresh (modules.cpp) writes both; handlers also add identities, lock-free.
// Everything here is async-signal-safe unless it says otherwise.
//
// Lifetimes. An identity (one per distinct file: path and build ID) and its table live as long as the
// process. A library that is unloaded and loaded again gets its id and its table back, and a table never
// disappears during a walk. A snapshot is retired when its successor is published, and unmapped once no walk
// was under way after that.

#include <elf.h>

#include <atomic>
#include <cstdint>

#include "hpcrun/unwind/frame.h"
#include "hpcrun/unwind/modules.h"
#include "hpcrun/unwind/table.h"

namespace hpcrun {

// A file, whether it is loaded at present or not.
struct ModuleIdentity {
  ModuleInfo info{};  // as it was first loaded
  uint64_t hash = 0;
  std::atomic<const UnwindTable*> table{nullptr};
  std::atomic<uint32_t> announced_to{0};  // number of the sink that it was announced to
  bool since_start = false;               // loaded before the first refresh: the loader never unloads it
  ModuleIdentity* older = nullptr;
};

struct LoadedModule {
  uint64_t start = 0;  // mapped range
  uint64_t end = 0;
  uint64_t text_start = 0;  // executable segments
  uint64_t text_end = 0;
  uint64_t load_bias = 0;
  const UnwindTable* table = nullptr;  // nullptr if the file has no call frame information
  // The build ID, compared with memory to check that the module is still there. Empty for modules that stay.
  const uint8_t* build_id = nullptr;
  uint64_t build_id_at = 0;
  uint32_t build_id_bytes = 0;
  uint16_t id = kModuleNone;
};

struct Snapshot {
  Snapshot* retired_next = nullptr;
  size_t mapped_bytes = 0;
  uint32_t count = 0;
  uint16_t exception_runtime =
      kModuleNone;  // libgcc_s: replaces return addresses while it installs a handler
  LoadedModule* modules() noexcept { return reinterpret_cast<LoadedModule*>(this + 1); }
  [[nodiscard]] const LoadedModule* modules() const noexcept {
    return reinterpret_cast<const LoadedModule*>(this + 1);
  }
};

const LoadedModule* find_module(const Snapshot& snapshot, uint64_t address) noexcept;

// Keeps the current snapshot mapped as long as it lives.
class SnapshotReader {
 public:
  SnapshotReader() noexcept;
  ~SnapshotReader();
  SnapshotReader(const SnapshotReader&) = delete;
  SnapshotReader& operator=(const SnapshotReader&) = delete;

  [[nodiscard]] const Snapshot& snapshot() const noexcept { return *snapshot_; }
  // Returns the generation of the snapshot. Cached results of another generation are invalid.
  [[nodiscard]] uint32_t generation() const noexcept { return generation_; }

 private:
  uint32_t generation_;
  const Snapshot* snapshot_;
};

// Makes the snapshot current and starts a new generation. Returns the previous snapshot, or nullptr if there
// is none to retire.
Snapshot* publish_snapshot(Snapshot* next) noexcept;

// True if no walk is under way at this moment.
[[nodiscard]] bool no_reader_is_active() noexcept;
void reset_readers_after_fork() noexcept;

void mark_modules_stale(bool stale) noexcept;

// A loaded file, as the program headers in memory describe it.
struct ImageDescription {
  static constexpr uint32_t kMaxBuildIdBytes = 64;  // linkers write 8 to 32
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t text_start = 0;
  uint64_t text_end = 0;
  uint64_t load_bias = 0;
  uint64_t eh_frame_hdr = 0;  // address in memory; 0 if there is none
  uint64_t eh_frame_hdr_bytes = 0;
  uint64_t eh_frame_segment_end = 0;  // end of the file's part of the segment with .eh_frame_hdr
  uint8_t build_id[kMaxBuildIdBytes];
  uint32_t build_id_bytes = 0;
  uint64_t build_id_at = 0;  // address in memory
};

// Describes a loaded file. Reads notes through safe_read; the program headers are the caller's copy.
void describe_image(const Elf64_Phdr* headers, size_t count, uint64_t load_bias,
                    ImageDescription& image) noexcept;

// Returns the identity of an image. A new one gets an id and is announced. Returns nullptr if ids or memory
// are used up.
ModuleIdentity* identify(const ImageDescription& image, const char* path) noexcept;

}  // namespace hpcrun
