#pragma once
// Decides whether an isolated page pays off. The time of commits and conversions is known, and is compared
// with what was lost to sharing. What commits cost in cache-line transfers between threads is not known.
// Threads that synchronise often are therefore compared with themselves: the page becomes common for a moment
// now and then. If they then synchronise as often per nanosecond of CPU time as with private pages, isolation
// gains nothing. page_balance.h judges all pages.
//
// For the controller's thread.

#include <cstdint>

#include "repair/isolate/contract/interface.h"

namespace hpcrun {

class Benefit {
 public:
  enum class Verdict : uint8_t {
    GoOn,
    MakeCommon,  // the page, until the next verdict other than GoOn
    IsolateAgain,
    Lost,
  };

  // Begins when the page is isolated. `now`, here and below: the totals of all pages, with the page's part of
  // commits and conversions.
  void begin(const IsolationTotals& now, uint64_t now_ns) noexcept;

  // Discards what was counted so far, because another page was on trial meanwhile.
  void begin_anew(const IsolationTotals& now, uint64_t now_ns) noexcept;

  // True if a verdict is possible by now.
  bool is_due(uint64_t now_ns) const noexcept { return now_ns >= due_ns_; }
  // `share_ppm`: the share of CPU time that was lost to sharing before.
  Verdict look(const IsolationTotals& now, uint64_t share_ppm, uint64_t now_ns) noexcept;

  // Synchronisations per second of CPU time, with the page isolated and common, in the latest trial; zeros if
  // there was none. Threads that did not run in a trial are not compared.
  struct Paces {
    uint64_t isolated = 0;
    uint64_t common = 0;
  };
  const Paces& tried() const noexcept { return tried_; }

 private:
  enum class Phase : uint8_t { Isolated, Leaving, Common };

  Verdict look_at_isolated(const IsolationTotals& passed, uint64_t share_ppm, uint64_t now_ns) noexcept;
  Verdict look_at_common(const IsolationTotals& passed, uint64_t now_ns) noexcept;
  bool is_expensive(const IsolationTotals& passed, uint64_t share_ppm) noexcept;
  void wait(uint64_t now_ns, uint64_t ns) noexcept { due_ns_ = now_ns + ns; }

  Phase phase_ = Phase::Isolated;
  uint64_t due_ns_ = 0;
  uint64_t next_trial_ns_ = 0;
  uint64_t to_next_trial_ns_ = 0;
  uint64_t pace_ = 0;  // synchronisations per second of CPU time, with the page isolated
  Paces tried_;
  uint32_t expensive_ = 0;
  IsolationTotals before_;
};

}  // namespace hpcrun
