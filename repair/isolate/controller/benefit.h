#pragma once
// Whether an isolated page is worth it. What commits and conversions take is known, and is held against what
// was lost to sharing; what commits cost in cache lines that threads take from each other is not. Threads
// that meet often are therefore compared with themselves: the page is common for a moment now and then,
// and where they meet as often then as with a page of their own, for each nanosecond of CPU time, nothing is
// gained. page_balance.h judges all pages.
//
// Of the controller's thread.

#include <cstdint>

#include "repair/isolate/contract/interface.h"

namespace hpcrun {

class Benefit {
 public:
  enum class Verdict : uint8_t {
    GoOn,
    MakeCommon,  // the page, until the next verdict but GoOn
    IsolateAgain,
    Lost,
  };

  // The page is isolated from now on. `now`, here and below: what was done for all pages, of commits and
  // conversions the page's part.
  void begin(const IsolationTotals& now, uint64_t now_ns) noexcept;

  // What was counted until now says nothing: another page was on trial meanwhile.
  void begin_anew(const IsolationTotals& now, uint64_t now_ns) noexcept;

  // Whether anything can be said by now.
  bool is_due(uint64_t now_ns) const noexcept { return now_ns >= due_ns_; }
  // `share_ppm`: of CPU time, lost to sharing before.
  Verdict look(const IsolationTotals& now, uint64_t share_ppm, uint64_t now_ns) noexcept;

  // Meetings in a second of CPU time, with the pages isolated and in common, as they were compared last; zeros:
  // they were not. Threads that did not run in a trial are not compared.
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
  uint64_t pace_ = 0;  // meetings in a second of CPU time, with the pages isolated
  Paces tried_;
  uint32_t expensive_ = 0;
  IsolationTotals before_;
};

}  // namespace hpcrun
