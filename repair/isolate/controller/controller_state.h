#pragma once
// What the controller's thread (controller.cpp) and those that speak to it (controller_life.cpp) have in
// common.

#include <atomic>
#include <cstdint>

#include "repair/isolate/controller/controller.h"
#include "repair/isolate/contract/interface.h"
#include "repair/isolate/controller/random_pages.h"
#include "repair/isolate/controller/shared_pages.h"

namespace hpcrun {

// How long memory that was left at a fork stays so, after the first one.
constexpr uint64_t kForkRestNs = 500'000'000;

// How far our thread has come.
enum class Stage : uint32_t { Unborn, Waiting, Planning, Asking };

struct Controller {
  std::atomic<int> pid{0};  // in which our thread runs
  std::atomic<bool> is_forbidden{false};
  std::atomic<bool> is_ending{false};   // the process
  std::atomic<bool> is_at_work{false};  // our thread, which may have the loader's lock then
  std::atomic<Stage> stage{Stage::Unborn};
  std::atomic<const char*> refusal{nullptr};
  std::atomic<bool> outlives_fork{false};  // our thread, as the program has others
  std::atomic<int> tid{0};                 // its number
  std::atomic<uint32_t> forks{0};
  std::atomic<uint64_t> common_from_ns{0};  // when memory that is private may be made common
  std::atomic<bool> is_preparing{false};    // our thread, as CommonHooks::prepare has it
  std::atomic<uint32_t> forks_under_way{0};  // it does not begin with that
  CommonHooks common;
  IsolationHost host;
  RandomPages random;
  SharedPages shared;
  std::atomic<bool> was_annotated{false};  // IsolationTotals
  std::atomic<bool> was_plain{false};
  std::atomic<uint64_t> isolated_pace{0};
  std::atomic<uint64_t> common_pace{0};
  uint64_t ticks_per_us = 0;  // of the time stamp counter

  // Pages are isolated that nobody asked for.
  bool isolates_untold() const noexcept { return host.isolates != Isolates::Told; }
  bool isolates_at_random() const noexcept { return host.isolates == Isolates::Random; }
  bool finds_written() const noexcept { return host.isolates == Isolates::Written; }

  uint64_t ns_of(uint64_t ticks) const noexcept { return ticks_per_us ? ticks * 1'000 / ticks_per_us : 0; }
};
extern constinit Controller controller;

// What this process has done so far.
void sum_up(IsolationTotals& totals) noexcept;
// In a forked child: what was done until now is its parent's.
void begin_sums_of_child() noexcept;

// The life of our thread.
void* run_controller(void*);

}  // namespace hpcrun
