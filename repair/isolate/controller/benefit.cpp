#include "repair/isolate/controller/benefit.h"

#include <algorithm>

namespace hpcrun {

namespace {

constexpr uint64_t kNsPerMs = 1'000'000;
constexpr uint64_t kNsPerSecond = 1'000 * kNsPerMs;

constexpr uint64_t kFirstNs = 100 * kNsPerMs;
constexpr uint64_t kWeighNs = 250 * kNsPerMs;
constexpr uint64_t kLeavingNs = 20 * kNsPerMs;  // two ticks of the controller, which reach all threads
constexpr uint64_t kCommonNs = 30 * kNsPerMs;
constexpr uint64_t kMaxBetweenNs = 64 * kNsPerSecond;  // between trials; the time doubles after each

constexpr uint32_t kMaxExpensive = 2;   // number of times in a row that isolation may cost too much
constexpr uint64_t kOften = 20'000;     // synchronisations per second from which on they measure progress
constexpr uint64_t kMinCpuNs = 10 * kNsPerMs;

IsolationTotals difference(const IsolationTotals& now, const IsolationTotals& before) noexcept {
  IsolationTotals passed;
  passed.conversion_ns = now.conversion_ns - before.conversion_ns;
  passed.commit_ns = now.commit_ns - before.commit_ns;
  passed.meetings = now.meetings - before.meetings;
  passed.converted_cpu_ns = now.converted_cpu_ns - before.converted_cpu_ns;
  return passed;
}

// Returns synchronisations per second of CPU time; 0: too little CPU time.
uint64_t pace_of(const IsolationTotals& passed) noexcept {
  if (passed.converted_cpu_ns < kMinCpuNs) return 0;
  return passed.meetings * 1'000 / (passed.converted_cpu_ns / kNsPerMs);
}

}  // namespace

void Benefit::begin(const IsolationTotals& now, uint64_t now_ns) noexcept {
  phase_ = Phase::Isolated;
  before_ = now;
  expensive_ = 0;
  next_trial_ns_ = now_ns;
  to_next_trial_ns_ = kNsPerSecond;
  wait(now_ns, kFirstNs);
}

void Benefit::begin_anew(const IsolationTotals& now, uint64_t now_ns) noexcept {
  before_ = now;
  wait(now_ns, kWeighNs);
}

Benefit::Verdict Benefit::look(const IsolationTotals& now, uint64_t share_ppm, uint64_t now_ns) noexcept {
  const IsolationTotals passed = difference(now, before_);
  before_ = now;
  switch (phase_) {
    case Phase::Isolated:
      return look_at_isolated(passed, share_ppm, now_ns);
    case Phase::Leaving:
      phase_ = Phase::Common;
      wait(now_ns, kCommonNs);
      return Verdict::GoOn;
    case Phase::Common:
      break;
  }
  return look_at_common(passed, now_ns);
}

Benefit::Verdict Benefit::look_at_isolated(const IsolationTotals& passed, uint64_t share_ppm,
                                           uint64_t now_ns) noexcept {
  if (is_expensive(passed, share_ppm)) return Verdict::Lost;
  pace_ = pace_of(passed);
  if (pace_ < kOften || now_ns < next_trial_ns_) {
    wait(now_ns, kWeighNs);
    return Verdict::GoOn;
  }
  phase_ = Phase::Leaving;
  wait(now_ns, kLeavingNs);
  return Verdict::MakeCommon;
}

Benefit::Verdict Benefit::look_at_common(const IsolationTotals& passed, uint64_t now_ns) noexcept {
  const uint64_t common = pace_of(passed);
  if (common > 0) tried_ = {pace_, common};
  if (common >= pace_) return Verdict::Lost;
  phase_ = Phase::Isolated;
  next_trial_ns_ = now_ns + to_next_trial_ns_;
  to_next_trial_ns_ = std::min(2 * to_next_trial_ns_, kMaxBetweenNs);
  wait(now_ns, kWeighNs);
  return Verdict::IsolateAgain;
}

bool Benefit::is_expensive(const IsolationTotals& passed, uint64_t share_ppm) noexcept {
  constexpr uint64_t kBothWays = 2;  // a conversion and the return
  constexpr uint64_t kWhole = 1'000'000;
  const uint64_t cost = passed.commit_ns + kBothWays * passed.conversion_ns;
  const bool is_too_much = cost * kWhole > share_ppm * passed.converted_cpu_ns / 2 && cost > kWeighNs / 100;
  expensive_ = is_too_much ? expensive_ + 1 : 0;
  return expensive_ == kMaxExpensive;
}

}  // namespace hpcrun
