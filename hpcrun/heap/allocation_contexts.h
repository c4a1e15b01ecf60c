#pragma once
// Caches the calling contexts from which a thread allocates, by return address and stack depth. Programs
// allocate from the same few call sites, so the stack is walked once for each. The kWords innermost return
// addresses must match; further out, two paths of equal depth are not distinguished. Belongs to one thread,
// in its arena. Zeroed memory is a valid empty object.

#include <atomic>
#include <cstdint>

#include "hpcrun/cct/cct.h"
#include "hpcrun/heap/allocation_sites.h"
#include "hpcrun/measurement/repair_plan.h"
#include "hpcrun/unwind/unwinder.h"
#include "hpcrun/unwind/walk_record.h"

namespace hpcrun {

// A call of the allocator, with the stack as at its first instruction.
struct AllocationCall {
  uint64_t caller;  // return address
  uint64_t frame;   // canonical frame address; the stack above it belongs to the caller
  uint64_t limit;   // the stack may be read up to here
};

AllocationCall call_at(const void* frame, const StackBounds& stack) noexcept;

class AllocationContext {
 public:
  uint64_t path() const noexcept { return path_; }
  NodeId node() const noexcept { return node_; }

  // Return the next return address, and how far above the call's frame it lies; 0 if not known.
  uint64_t outer() const noexcept { return words_ ? values_[0] : 0; }
  uint64_t outer_distance() const noexcept { return words_ ? offsets_[0] : 0; }

  // Returns the entries of the repair plan for allocations from this context.
  const PlanEntries& planned() const noexcept { return planned_; }

 private:
  friend class AllocationContexts;
  static constexpr uint32_t kWords = 8;

  uint64_t caller_;  // 0: unused
  uint64_t frame_;
  uint64_t path_;
  uint64_t values_[kWords];   // of return addresses,
  uint32_t offsets_[kWords];  // above the frame
  uint32_t words_;
  uint32_t generation_;
  NodeId node_;
  PlanEntries planned_;
};

// Caches the numbers of a thread's latest sites. Needed because each size of a growing array is a site of its
// own. Zeroed memory is a valid empty object.
class LateSites {
 public:
  // Returns the site for `path` and `bytes`, as passed to AllocationSites::number_of(), or kNoSite.
  SiteId find(uint64_t path, uint64_t bytes) const noexcept;
  void keep(uint64_t path, uint64_t bytes, SiteId site) noexcept;

 private:
  static constexpr uint32_t kPlaces = 512;
  static constexpr unsigned kSiteBits = 16;

  std::atomic<uint64_t> places_[kPlaces];  // the site, and the bits of the hash that the place does not imply
};

// Limits how often a thread walks its stack for a new calling context. Programs that recurse, such as
// compilers, allocate through ever new call paths. A number of first walks, up to a total time, is free.
// After these, one walk is allowed per ns_per_walk, and at most one in kLongWalks times the duration of a
// walk, which is long in generated code. Zeroed memory is a valid object.
class WalkPace {
 public:
  struct Budget {
    uint32_t first;
    uint64_t first_ns;
    uint64_t ns_per_walk;
  };
  // Budgets during a search for contention, in a process with one thread, and otherwise. The last is small
  // because short-lived helper threads have no time to lose. With 64 walks each, the threads of node's
  // garbage collector were late for its first passes of a millisecond. It then collected everything more
  // often (in 7 of 10 runs instead of 4), and the program took some 0.9 % longer.
  static constexpr Budget kSearched{4'096, 4'000'000, 800'000};
  static constexpr Budget kAlone{1'024, 2'000'000, 4'000'000};
  static constexpr Budget kAtRest{16, 100'000, 8'000'000};
  static constexpr uint64_t kLongWalks = 400;
  static constexpr uint32_t kAskedEach = 64;  // refusals per look at the clock, which costs time

  template <typename Clock>
  bool takes(Clock now_ns, const Budget& budget) noexcept {
    if (taken_ < budget.first && taken_ns_ < budget.first_ns) return ++taken_, is_free_ = true;
    if (left_ == 0) {
      if (refused_++ % kAskedEach != 0) return false;
      earn(now_ns(), budget.ns_per_walk);
    }
    return left_ > 0 && (--left_, true);
  }
  // Notes how long a walk took. The thread may have waited for a processor meanwhile.
  void took(uint64_t ns) noexcept {
    const uint64_t most = walk_ns_ ? 2 * walk_ns_ : kSearched.ns_per_walk / kLongWalks * 4;
    const uint64_t own_ns = ns < most ? ns : most;
    walk_ns_ = (7 * walk_ns_ + own_ns) / 8;
    if (is_free_) taken_ns_ += own_ns;
    is_free_ = false;
  }

 private:
  void earn(uint64_t now_ns, uint64_t least_ns_per_walk) noexcept {
    const uint64_t long_ns = kLongWalks * walk_ns_;
    const uint64_t ns_per_walk = long_ns > least_ns_per_walk ? long_ns : least_ns_per_walk;
    const uint64_t walks = since_ns_ ? (now_ns - since_ns_) / ns_per_walk : 0;
    if (walks || !since_ns_) since_ns_ = now_ns;
    left_ = static_cast<uint32_t>(walks < kSearched.first ? walks : kSearched.first);
  }

  uint64_t since_ns_, walk_ns_, taken_ns_;
  uint32_t taken_, left_, refused_;
  bool is_free_;  // the next walk
};

class AllocationContexts {
 public:
  // Filled by the next walk.
  WalkRecord record;
  WalkPace pace;
  LateSites sites;

  // Returns the context of a call, or nullptr if it is not known.
  AllocationContext* find(const AllocationCall& call) noexcept;

  // Adds a context that find() did not find. The stack must have been walked into `record`, from below the
  // call. Replaces the context that was added longest ago.
  AllocationContext& add(const AllocationCall& call, uint64_t path, NodeId node,
                         const PlanEntries& planned = {}) noexcept;

  // Placed allocations, and their padding in bytes, that were not added to the file's counters yet.
  uint64_t placed;
  uint64_t padding;

 private:
  static constexpr unsigned kSetBits = 7;
  static constexpr uint32_t kSets = 1 << kSetBits;
  static constexpr uint32_t kWays = 4;
  static constexpr uint32_t kCallers = 64;

  // The distance from the frame to the next return address. It distinguishes the callers of `operator new`
  // and of other small functions around the allocator at once.
  struct Caller {
    uint64_t address;
    uint64_t next;
  };

  Caller& caller_of(uint64_t address) noexcept { return callers_[(address ^ address >> 6) % kCallers]; }
  uint32_t set_of(const AllocationCall& call) noexcept;
  bool is_used(uint32_t set) const noexcept { return used_[set / 64] >> set % 64 & 1; }

  Caller callers_[kCallers];
  uint64_t used_[kSets / 64];  // a set is read only after it was written (hpcrun/unwind/code_cache.h)
  AllocationContext contexts_[kSets][kWays];
  uint8_t oldest_[kSets];
};

}  // namespace hpcrun
