#pragma once
// Finds cache lines that threads contend for. Samples lead to lines that several threads seem to use while
// one of them writes (SuspectLines). Breakpoints in one of these threads confirm whether and where it
// accesses the line (Watch). Each confirmed access is reported as evidence.
//
// If the hardware samples memory accesses and reports which lines came from another core (SampledAccess),
// these samples are the evidence, and no breakpoints are set.
//
// At confirmed lines, threads are frozen for a few milliseconds at a low rate, to measure how fast another
// one proceeds without them (PeerFreeze, LoopProgress).
//
// One per process, for all its threads. All calls are made in handlers, by the thread concerned, are
// async-signal-safe and take no lock. One line is watched at a time.

#include <atomic>
#include <bit>
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
  uint64_t stack_low;  // the thread's own stack
  uint64_t stack_high;
  PlanCache* plans;
  LoopProgress* loop;
};

// The position at which a thread stopped.
struct StoppedAt {
  MachineState state;
  uint64_t pc;
  uint64_t begin;   // as for plan_accesses()
  uint64_t now_ns;  // CLOCK_MONOTONIC
};

struct Evidence {
  Access access;
  uint64_t time_ns;
  uint64_t weight_ns;  // CPU time of the sample; 0 for a breakpoint or a hardware sample
  bool is_seen;        // by one of these; otherwise by a sample, at a line with a confirmed access
  bool is_exact;       // bytes and kind are known; otherwise some access to these bytes
  HardwareAccess hardware = {};
};

// The services that the watch needs from the process.
struct WatchCallbacks {
  int (*tid_of)(uint32_t thread) noexcept;  // 0: it has ended
  void (*report)(uint32_t thread, const Evidence& evidence) noexcept;
  void (*report_progress)(uint32_t thread, uint64_t line, uint64_t time_ns,
                          const Progress& progress) noexcept;
  MemoryReader memory;
  bool samples_accesses = false;  // hardware samples accesses, so breakpoints are not needed
  // Requests a high or a low sampling rate (sampling_rate_control.h). Null: the rate does not change.
  void (*sample_often)(bool often) noexcept = nullptr;
  // Returns true if a confirmed line may lead to more findings, so that the sampling rate should stay high.
  // Null: always.
  bool (*is_promising)() noexcept = nullptr;
  // Returns true if nothing more can be found at the lines confirmed in this search, which then ends. Null:
  // never.
  bool (*is_settled)() noexcept = nullptr;
};

class ContentionWatch {
 public:
  // `signal_data` is what the signals of breakpoints carry; its low 16 bits are free. Returns false if there
  // is no memory.
  bool start(const WatchCallbacks& callbacks, uint64_t signal_data) noexcept;

  // Populates the memory that will be used. Must be called before the process has several threads.
  void populate() noexcept { suspects_.populate(); }

  // Removes the breakpoints permanently. Samples may still arrive. Must not be called in a handler.
  void stop() noexcept;

  // Must be called at each sample of any thread: ends a search or a watch whose time is over.
  void pass(uint64_t now_ns) noexcept;
  // Ends a search, because threads do not run at the same time now.
  void call_off_search(uint64_t now_ns) noexcept { follow(search_.call_off(now_ns)); }
  // Handles a sample of the thread's CPU time, which represents `weight_ns`. Must be called after pass().
  // `may_search`: a meeting may begin a search.
  void sample(const WatchedThread& thread, const StoppedAt& at, uint64_t weight_ns,
              bool may_search = true) noexcept;

  // Returns true if this is the signal of a breakpoint.
  bool is_hit(uint64_t signal_data) const noexcept { return signal_data >> 16 == signal_data_ >> 16; }
  void hit(const WatchedThread& thread, const StoppedAt& at, uint64_t signal_data) noexcept;

  // Handles an access of the thread that the hardware sampled.
  void sampled_access(const WatchedThread& thread, const SampledAccess& sampled) noexcept;

  // Returns a negated errno if breakpoints could not be set at some time (Watch::arm), otherwise 0.
  int failure() const noexcept { return failure_.load(std::memory_order_relaxed); }

  const SuspectLines& suspects() const noexcept { return suspects_; }

 private:
  enum class State : uint32_t { Stopped, Idle, Changing, Armed };
  static constexpr uint32_t kMeetings = 3;              // at a line, before it is watched
  static constexpr uint32_t kHits = 3;                  // after which a breakpoint disarms itself
  static constexpr uint64_t kWatchNs = 5'000'000;       // at most
  static constexpr uint64_t kRestNs = 20'000'000;       // between two watches
  static constexpr uint64_t kLongRestNs = 200'000'000;  // the same, at the low rate after a search
  static constexpr uint32_t kRememberedLines = 16;      // of watches whose signals may still arrive
  static_assert(std::has_single_bit(kRememberedLines), "signals carry the bits below");

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
  // Used by the thread that is in State::Changing.
  Watch watch_;
  uint32_t watches_ = 0;
  // Read by other threads in State::Armed.
  std::atomic<uint64_t> deadline_ns_{0};
  std::atomic<uint64_t> next_ns_{0};
  std::atomic<int32_t> hits_left_{0};
  std::atomic<uint64_t> lines_[kRememberedLines] = {};
};

}  // namespace hpcrun
