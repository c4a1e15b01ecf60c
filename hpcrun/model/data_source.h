#pragma once
// Decodes where the data of a memory access came from, as reported by hardware in the kernel's encoding
// (PERF_SAMPLE_DATA_SRC, union perf_mem_data_src). Intel PEBS, AMD IBS and others share the encoding, and
// each fills in a part. Accepts any bits. Async-signal-safe.

#include <cstdint>

namespace hpcrun {

struct DataSource {
  enum class Operation : uint8_t { Unknown, Load, Store, Prefetch, Execute };
  // For loads. OwnCaches: of the core, including its line fill buffers. SharedCache: one that several cores
  // share, or another core's cache reached through it. Elsewhere: devices, uncached memory.
  enum class Origin : uint8_t { Unknown, OwnCaches, SharedCache, RemoteCache, Memory, Elsewhere };

  Operation operation = Operation::Unknown;
  Origin origin = Origin::Unknown;
  bool missed = false;          // the named level missed; nothing else is known
  bool reports_snoops = false;  // it is known whether other caches had the line
  bool was_modified = false;    // another cache had it modified (HITM)
  bool came_from_peer = false;  // another core's cache supplied it, modified or not
  bool is_remote = false;       // outside the node or socket, as counted by perf c2c
  bool is_locked = false;
  bool was_blocked = false;  // by a store whose data or address was not ready

  // True if the line came from another core's cache.
  [[nodiscard]] bool is_transfer() const noexcept { return was_modified || came_from_peer; }
};

DataSource decode_data_source(uint64_t bits) noexcept;

}  // namespace hpcrun
