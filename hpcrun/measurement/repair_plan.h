#pragma once
// What `prof run --repair` has the runtime change from the start: a file in the measurement directory that
// the launcher writes and every process of the run maps and reads. Both are of one build: there is no
// version to negotiate, but the reader believes nothing (check_repair_plan).

#include <cstddef>
#include <cstdint>

namespace hpcrun {

constexpr char kRepairPlanFile[] = "repair.plan";
constexpr char kRepairPlanMagic[8] = {'p', 'r', 'o', 'f', 'p', 'l', 'a', 'n'};

enum class PlanKind : uint32_t {
  Place = 1,       // allocations of a site are placed anew
  SiteLocks = 2,   // locks in allocations of a site get lines of their own
  GlobalLocks = 3  // locks in a variable do
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
  uint32_t first_frame;  // of the plan's frames: those of the allocating call, innermost first
  uint32_t frame_count;  // what is further out does not matter; of GlobalLocks 1: the variable's address
  uint32_t align, offset, pad;  // a Placement (hpcrun/model/placement.h)
  uint64_t least_bytes;         // sizes that the site asks for, inclusive; of GlobalLocks both the variable's
  uint64_t most_bytes;
};

struct PlanFrame {
  uint32_t module;  // of the plan's modules
  uint32_t reserved;
  uint64_t offset;  // as frame_offset() has it (hpcrun/unwind/frame.h)
};

struct PlanModule {
  uint8_t build_id_bytes;  // 0: known by its path alone
  uint8_t build_id[64];    // as long as the runtime reads them (hpcrun/unwind/registry.h)
  char path[1024];         // ended by a zero; as long as the runtime has them (hpcrun/unwind/live_module.h)
};
static_assert(sizeof(PlanModule) == 1089);

constexpr uint32_t kMostPlanEntries = 256;
constexpr uint32_t kMostPlanFrames = 16;  // of one entry
constexpr uint32_t kMostPlanModules = 256;
constexpr uint64_t kMostPlannedBytes = uint64_t{1} << 47;

// A plan in memory of somebody else's.
struct PlanView {
  const PlanEntry* entries = nullptr;
  const PlanFrame* frames = nullptr;
  const PlanModule* modules = nullptr;
  uint32_t entry_count = 0;
  uint32_t module_count = 0;
};

// False where these bytes, which begin at a multiple of 8, are no plan: too few or too many, a number out of
// its range, a placement that does not exist, a module without a name. Async-signal-safe.
bool check_repair_plan(const void* data, size_t bytes, PlanView& out) noexcept;

}  // namespace hpcrun
