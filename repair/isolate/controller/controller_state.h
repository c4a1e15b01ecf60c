#pragma once
// State that the controller's thread (controller.cpp) shares with the functions that start and stop it
// (controller_life.cpp).

#include <atomic>
#include <cstdint>

#include "repair/isolate/contract/interface.h"
#include "repair/isolate/controller/controller.h"
#include "repair/isolate/controller/random_pages.h"
#include "repair/isolate/controller/shared_pages.h"

namespace hpcrun {

// The time for which memory that was left at a fork stays private, after the first fork.
constexpr uint64_t kForkRestNs = 500'000'000;

// The state of the controller's thread.
enum class Stage : uint32_t { Unborn, Waiting, Planning, Asking };

struct Controller {
  std::atomic<int> pid{0};  // the process in which our thread runs
  std::atomic<bool> is_forbidden{false};
  std::atomic<bool> is_ending{false};   // the process is ending
  std::atomic<bool> is_at_work{false};  // our thread is working, and may hold the loader's lock
  std::atomic<Stage> stage{Stage::Unborn};
  std::atomic<const char*> refusal{nullptr};
  std::atomic<bool> outlives_fork{false};  // our thread does, as the program has other threads
  std::atomic<int> tid{0};                 // of our thread
  std::atomic<uint32_t> forks{0};
  std::atomic<uint64_t> common_from_ns{0};   // when private memory may be made common
  std::atomic<bool> is_preparing{false};     // our thread runs CommonHooks::prepare
  std::atomic<uint32_t> forks_under_way{0};  // while not 0, our thread does not begin that
  CommonHooks common;
  IsolationCallbacks host;
  RandomPages random;
  SharedPages shared;
  std::atomic<bool> was_annotated{false};  // see IsolationTotals
  std::atomic<bool> was_plain{false};
  std::atomic<uint64_t> isolated_pace{0};
  std::atomic<uint64_t> common_pace{0};
  uint64_t ticks_per_us = 0;  // of the time stamp counter

  // True if pages are isolated that the runtime did not request.
  bool isolates_unrequested() const noexcept { return host.isolates != Isolates::Requested; }
  bool isolates_at_random() const noexcept { return host.isolates == Isolates::Random; }
  bool finds_written() const noexcept { return host.isolates == Isolates::Written; }

  uint64_t ns_of(uint64_t ticks) const noexcept { return ticks_per_us ? ticks * 1'000 / ticks_per_us : 0; }
};
extern constinit Controller controller;

// Adds up what this process has done so far.
void sum_up(IsolationTotals& totals) noexcept;
// Must be called in a forked child: the totals until now are its parent's.
void begin_sums_of_child() noexcept;

// The main function of our thread.
void* run_controller(void*);

}  // namespace hpcrun
