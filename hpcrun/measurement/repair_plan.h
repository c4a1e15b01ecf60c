#pragma once
// Defines the repair plan: the repairs that the runtime makes from the start (`prof run --repair`). The
// launcher writes it to a file in the measurement directory, which every process of the run maps and reads.
// Both are of the same build, so there is no version. The input is still untrusted; every field is validated
// (check_repair_plan).

#include <cstddef>
#include <cstdint>

namespace hpcrun {

constexpr char kRepairPlanFile[] = "repair.plan";
constexpr char kRepairPlanMagic[8] = {'p', 'r', 'o', 'f', 'p', 'l', 'a', 'n'};

enum class PlanKind : uint32_t {
  Place = 1,       // allocations of a site are placed
  SiteLocks = 2,   // locks in allocations of a site are moved to lines of their own
  GlobalLocks = 3  // locks in a variable are moved
};

struct PlanHeader {
  char magic[8];
  uint32_t entry_count;
  uint32_t frame_count;
  uint32_t module_count;
  uint32_t reserved;
  // Followed by the entries, the frames and the modules.
};

struct PlanEntry {
  PlanKind kind;
  uint32_t first_frame;         // index in the plan's frames of the allocating call's frames, innermost first
  uint32_t frame_count;         // outer frames do not matter; for GlobalLocks 1: the variable's address
  uint32_t align, offset, pad;  // a Placement (hpcrun/model/placement.h)
  uint64_t least_bytes;  // range of sizes that the site requests, inclusive; for GlobalLocks both are the
                         // variable's size
  uint64_t most_bytes;
};

struct PlanFrame {
  uint32_t module;  // index in the plan's modules
  uint32_t reserved;
  uint64_t offset;  // as returned by frame_offset() (hpcrun/unwind/frame.h)
};

struct PlanModule {
  uint8_t build_id_bytes;  // 0: identified by its path only
  uint8_t build_id[64];    // the maximum that the runtime reads (hpcrun/unwind/registry.h)
  char path[1024];         // zero-terminated; the maximum that the runtime uses (hpcrun/unwind/live_module.h)
};
static_assert(sizeof(PlanModule) == 1089);

constexpr uint32_t kMaxPlanEntries = 256;
constexpr uint32_t kMaxPlanFrames = 16;  // per entry
constexpr uint32_t kMaxPlanModules = 256;
constexpr uint64_t kMaxPlannedBytes = uint64_t{1} << 47;

// A set of plan entries, one bit each.
struct PlanEntries {
  uint64_t words[kMaxPlanEntries / 64];

  void add(uint32_t entry) noexcept { words[entry / 64] |= uint64_t{1} << entry % 64; }
  bool holds(uint32_t entry) const noexcept { return words[entry / 64] >> entry % 64 & 1; }
  bool is_empty() const noexcept {
    for (const uint64_t word : words)
      if (word) return false;
    return true;
  }
};

// A plan in memory that the view does not own.
struct PlanView {
  const PlanEntry* entries = nullptr;
  const PlanFrame* frames = nullptr;
  const PlanModule* modules = nullptr;
  uint32_t entry_count = 0;
  uint32_t module_count = 0;
};

// Validates a plan. `data` must be aligned to 8. Returns false if the bytes are not a plan: too few or too
// many, a number out of its range, an invalid placement, a module without a name. Async-signal-safe.
[[nodiscard]] bool check_repair_plan(const void* data, size_t bytes, PlanView& out) noexcept;

}  // namespace hpcrun
