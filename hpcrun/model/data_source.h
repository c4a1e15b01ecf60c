#pragma once
// Where the data of one memory access came from, as hardware told it and the kernel wrote it down
// (PERF_SAMPLE_DATA_SRC, union perf_mem_data_src): Intel's PEBS, AMD's IBS and others in one encoding, of
// which each fills in a part. Any bits may come. Async-signal-safe.

#include <cstdint>

namespace hpcrun {

struct DataSource {
  enum class Operation : uint8_t { Unknown, Load, Store, Prefetch, Execute };
  // Of loads. OwnCaches: of the core, its line fill buffers included. SharedCache: one of several cores, or
  // another core's by way of it. Elsewhere: devices, uncached memory.
  enum class Origin : uint8_t { Unknown, OwnCaches, SharedCache, RemoteCache, Memory, Elsewhere };

  Operation operation = Operation::Unknown;
  Origin origin = Origin::Unknown;
  bool missed = false;          // the level that is named, and no more is known
  bool tells_snoops = false;    // whether other caches had the line is known
  bool was_modified = false;    // another cache had it modified (HITM)
  bool came_from_peer = false;  // another core's cache gave it, modified or not
  bool is_remote = false;       // beyond the node or socket, as perf c2c counts it
  bool is_locked = false;
  bool was_blocked = false;  // by a store whose data or address was not ready

  // The line was in another core's cache, and had to come from there.
  bool is_transfer() const noexcept { return was_modified || came_from_peer; }
};

DataSource decode_data_source(uint64_t bits) noexcept;

}  // namespace hpcrun
