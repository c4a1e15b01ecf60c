#pragma once
// Finds cache lines that threads contend for, without hardware that tells: from where samples find threads to
// lines at which several seem to be, one of them writing (SuspectLines), from there to breakpoints in one of
// these threads that tell whether and where it really is (Watch). What is found comes out as evidence, access
// by access.
//
// Where hardware samples memory accesses and tells which lines had to come from another core (SampledAccess),
// these are the evidence, and no breakpoints are set.
//
// Where they were seen for certain, some are held for a few milliseconds now and then, to see how fast
// another one goes on without them (PeerFreeze, LoopProgress).
//
// One for a process, for all its threads. All calls are made in handlers, by the thread they are about, and
// are async-signal-safe and free of locks; one line is watched at a time.

#include <atomic>
#include <cstdint>

#include "hpcrun/contention/loop_progress.h"
#include "hpcrun/contention/peer_freeze.h"
#include "hpcrun/contention/plan_cache.h"
#include "hpcrun/contention/sampled_access.h"
#include "hpcrun/contention/sampling_rate_control.h"
#include "hpcrun/contention/suspect_lines.h"
#include "hpcrun/contention/watch.h"

namespace hpcrun {

struct WatchedThread {
  uint32_t index;      // less than SuspectLines::kMaxVisitors
  uint64_t stack_low;  // what lies between is its own
  uint64_t stack_high;
  PlanCache* plans;
  LoopProgress* loop;
};

// Where a thread stopped.
struct StoppedAt {
  MachineState state;
  uint64_t pc;
  uint64_t begin;   // as of plan_accesses()
  uint64_t now_ns;  // CLOCK_MONOTONIC
};

struct Evidence {
  Access access;
  uint64_t time_ns;
  uint64_t weight_ns;  // CPU time of the sample; 0 for what a breakpoint or hardware saw
  bool is_seen;        // by these; otherwise by a sample, at a line where somebody was seen
  bool is_exact;       // bytes and kind are known; otherwise some access to these bytes
  HardwareAccess hardware = {};
};

// What the watch needs of the process.
struct WatchCallbacks {
  int (*tid_of)(uint32_t thread) noexcept;  // 0: it is gone
  void (*report)(uint32_t thread, const Evidence& evidence) noexcept;
  void (*report_progress)(uint32_t thread, uint64_t line, uint64_t time_ns,
                          const Progress& progress) noexcept;
  MemoryReader memory;
  bool samples_accesses = false;  // hardware tells: breakpoints are not needed
  // From now on samples are to come often, or seldom (sampling_rate_control.h). Null: they come as they do.
  void (*sample_often)(bool often) noexcept = nullptr;
  // Whether something may be found yet in what threads were seen to contend for, so that samples go on to
  // come often. Null: always.
  bool (*is_promising)() noexcept = nullptr;
  // Whether nothing is left to be found in what threads were seen to contend for in this search, which is
  // over then. Null: never.
  bool (*is_settled)() noexcept = nullptr;
};

class ContentionWatch {
 public:
  // `signal_data`: what the signals of breakpoints carry, with its low 16 bits free. False: no memory.
  bool start(const WatchCallbacks& callbacks, uint64_t signal_data) noexcept;

  // Before the process has several threads: takes the memory that it comes to use.
  void populate() noexcept { suspects_.populate(); }

  // Takes the breakpoints back and arms none any more. Samples may still come. Not in a handler.
  void stop() noexcept;

  // At each sample of any thread: a search or a watch may be over.
  void pass(uint64_t now_ns) noexcept;
  // Threads do not run at the same time now: no search is worth its cost.
  void call_off_search(uint64_t now_ns) noexcept { follow(search_.call_off(now_ns)); }
  // A sample of the thread's CPU time, which stands for so much of it; after pass(). `may_search`: where
  // threads meet it is a reason to search.
  void sample(const WatchedThread& thread, const StoppedAt& at, uint64_t weight_ns,
              bool may_search = true) noexcept;

  // Is this a breakpoint's signal?
  bool is_hit(uint64_t signal_data) const noexcept { return signal_data >> 16 == signal_data_ >> 16; }
  void hit(const WatchedThread& thread, const StoppedAt& at, uint64_t signal_data) noexcept;

  // Hardware told of an access of the thread's.
  void sampled_access(const WatchedThread& thread, const SampledAccess& sampled) noexcept;

  // A negated errno where breakpoints could not be set (Watch::arm) at some time, else 0.
  int failure() const noexcept { return failure_.load(std::memory_order_relaxed); }

  const SuspectLines& suspects() const noexcept { return suspects_; }

 private:
  enum class State : uint32_t { Stopped, Idle, Changing, Armed };
  static constexpr uint32_t kMeetings = 3;              // at a line, before it is watched
  static constexpr uint32_t kHits = 3;                  // that one breakpoint is good for
  static constexpr uint64_t kWatchNs = 5'000'000;       // at most
  static constexpr uint64_t kRestNs = 20'000'000;       // between two watches,
  static constexpr uint64_t kLongRestNs = 200'000'000;  // where samples come seldom after a search
  static constexpr uint32_t kRememberedLines = 16;      // of watches whose signals may still come

  bool enter(State from) noexcept;
  void leave(State to) noexcept { state_.store(to, std::memory_order_release); }
  void expire(uint64_t now_ns) noexcept;
  void try_watch(uint64_t line, const Meeting& meeting, uint64_t now_ns) noexcept;
  uint8_t words_to_watch(uint8_t used) noexcept;
  void follow(SamplingRateControl::Change change) noexcept;
  void rest(uint64_t now_ns) noexcept;
  void go_on_searching(uint64_t now_ns) noexcept;
  void measure_progress(const WatchedThread& thread, const StoppedAt& at, uint64_t weight_ns, uint64_t line,
                        uint32_t others, const Access* own, uint32_t own_count) noexcept;

  WatchCallbacks callbacks_{};
  uint64_t signal_data_ = 0;
  SuspectLines suspects_;
  SamplingRateControl search_;
  PeerFreeze freeze_;
  std::atomic<State> state_{State::Stopped};
  std::atomic<int> failure_{0};
  // Whoever is Changing has these.
  Watch watch_;
  uint32_t watches_ = 0;
  // Read by others while it is Armed.
  std::atomic<uint64_t> deadline_ns_{0};
  std::atomic<uint64_t> next_ns_{0};
  std::atomic<int32_t> hits_left_{0};
  std::atomic<uint64_t> lines_[kRememberedLines] = {};
};

}  // namespace hpcrun
