#pragma once
// Where a thread allocates, by return address and stack depth: programs allocate from the same few places
// over and over, and the stack is walked once for each. The innermost return addresses have to be what they
// were (kWords of them); further out two paths of equal depth are not told apart. One thread's, in its arena.
// Zeroed memory is a valid empty one.

#include <atomic>
#include <cstdint>

#include "hpcrun/cct/cct.h"
#include "hpcrun/heap/allocation_sites.h"
#include "hpcrun/measurement/repair_plan.h"
#include "hpcrun/unwind/unwinder.h"
#include "hpcrun/unwind/walk_record.h"

namespace hpcrun {

// A call of the allocator, as its first instruction finds the stack.
struct AllocationCall {
  uint64_t caller;  // return address
  uint64_t frame;   // canonical frame address: what is above belongs to the caller
  uint64_t limit;   // up to where the stack may be read
};

AllocationCall call_at(const void* frame, const StackBounds& stack) noexcept;

class AllocationContext {
 public:
  uint64_t path() const noexcept { return path_; }
  NodeId node() const noexcept { return node_; }

  // The next return address, and how far above the call's frame it lies; 0: not known.
  uint64_t outer() const noexcept { return words_ ? values_[0] : 0; }
  uint64_t outer_distance() const noexcept { return words_ ? offsets_[0] : 0; }

  // Of the repair plan, those that are for allocations from here.
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

// The numbers of the sites that a thread allocated at lately: of arrays that grow each size is another one.
// Zeroed memory is a valid empty one.
class LateSites {
 public:
  // kNoSite: not known. `path` and `bytes` as AllocationSites::number_of() was asked.
  SiteId find(uint64_t path, uint64_t bytes) const noexcept;
  void keep(uint64_t path, uint64_t bytes, SiteId site) noexcept;

 private:
  static constexpr uint32_t kPlaces = 512;
  static constexpr unsigned kSiteBits = 16;

  std::atomic<uint64_t> places_[kPlaces];  // of the hash what the place does not say, and the site
};

// How often a thread is asked where it allocates: compilers and others that recurse do so by ever new call
// paths, and each costs a walk of the stack. The first walks are free, so many of them and for so long; after
// these, one comes in ns_per_walk, and no more than one in kLongWalks times what a walk takes, as those do of
// code that is generated. Zeroed memory is a valid one.
class WalkPace {
 public:
  struct Budget {
    uint32_t first;
    uint64_t first_ns;
    uint64_t ns_per_walk;
  };
  // While contention is searched for; in a process with one thread, which contends with none; and else.
  // Threads that come to help for a moment have no time to lose. Those of node's garbage collector, asked 64
  // times each, came too late to its first passes of a millisecond; by what survived these it then collected
  // all more often (in 7 of 10 runs for 4), and the program took some 0.9 % longer.
  static constexpr Budget kSearched{4'096, 4'000'000, 800'000};
  static constexpr Budget kAlone{1'024, 2'000'000, 4'000'000};
  static constexpr Budget kAtRest{16, 100'000, 8'000'000};
  static constexpr uint64_t kLongWalks = 400;
  static constexpr uint32_t kAskedEach = 64;  // refusals: the clock costs, too

  template <typename Clock>
  bool takes(Clock now_ns, const Budget& budget) noexcept {
    if (taken_ < budget.first && taken_ns_ < budget.first_ns) return ++taken_, is_free_ = true;
    if (left_ == 0) {
      if (refused_++ % kAskedEach != 0) return false;
      earn(now_ns(), budget.ns_per_walk);
    }
    return left_ > 0 && (--left_, true);
  }
  // A walk took so long; the thread may have waited for a processor meanwhile.
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
  bool is_free_;  // the walk that comes next
};

class AllocationContexts {
 public:
  // Of the walk that comes next.
  WalkRecord record;
  WalkPace pace;
  LateSites sites;

  // nullptr: not known.
  AllocationContext* find(const AllocationCall& call) noexcept;

  // After find() found nothing, and the stack was walked into `record`, from below the call. In the place of
  // what was added longest ago.
  AllocationContext& add(const AllocationCall& call, uint64_t path, NodeId node,
                         const PlanEntries& planned = {}) noexcept;

  // Allocations that were placed, and padding, of which the measurement file does not know yet.
  uint64_t placed;
  uint64_t padding;

 private:
  static constexpr unsigned kSetBits = 7;
  static constexpr uint32_t kSets = 1 << kSetBits;
  static constexpr uint32_t kWays = 4;
  static constexpr uint32_t kCallers = 64;

  // How far above the frame the next return address lies: with it, the callers of `operator new` and of other
  // small functions around the allocator are told apart at once.
  struct Caller {
    uint64_t address;
    uint64_t next;
  };

  Caller& caller_of(uint64_t address) noexcept { return callers_[(address ^ address >> 6) % kCallers]; }
  uint32_t set_of(const AllocationCall& call) noexcept;
  bool is_used(uint32_t set) const noexcept { return used_[set / 64] >> set % 64 & 1; }

  Caller callers_[kCallers];
  uint64_t used_[kSets / 64];  // a set is not read before it was written to (hpcrun/unwind/code_cache.h)
  AllocationContext contexts_[kSets][kWays];
  uint8_t oldest_[kSets];
};

}  // namespace hpcrun
