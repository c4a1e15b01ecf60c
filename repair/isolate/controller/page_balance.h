#pragma once
// Decides which isolated pages pay off. Each is judged by itself (benefit.h): by the time of its own merges
// and its part of the conversions. A page that does not pay is made common, and the others stay isolated.
// Only one page is on trial at a time.
//
// For the controller's thread.

#include <cstdint>

#include "repair/isolate/controller/benefit.h"
#include "repair/isolate/contract/interface.h"
#include "repair/isolate/pages/private_pages.h"

namespace hpcrun {

class PageBalance {
 public:
  struct Page {
    uint64_t page;
    uint64_t share_ppm;  // of CPU time, lost to sharing before
  };
  struct Verdict {
    uint64_t page = 0;
    Benefit::Verdict is = Benefit::Verdict::GoOn;
  };
  // Returns how much of the commits' time was for a page, in any unit. The count is cumulative, but starts
  // over if a thread that had the page has gone.
  using TicksOf = uint64_t (*)(uint64_t page) noexcept;

  // Called when a session begins.
  void begin(const IsolationTotals& now) noexcept;

  // True if a verdict is possible by now on one of these pages, which are the isolated ones.
  bool is_due(const Page* pages, uint32_t count, uint64_t now_ns) const noexcept;

  // Returns the verdict on one of the pages; the others are left to later calls.
  Verdict look(const Page* pages, uint32_t count, const IsolationTotals& now, TicksOf ticks_of,
               uint64_t now_ns) noexcept;

  // The result of the latest trial (Benefit::tried()).
  const Benefit::Paces& tried() const noexcept { return tried_; }

 private:
  struct Weighed {
    uint64_t page = 0;  // 0: none
    uint64_t share_ppm = 0;
    uint64_t ticks = 0;
    IsolationTotals part;  // commit_ns and conversion_ns
    Benefit benefit;
  };

  Weighed* find(uint64_t page) noexcept;
  const Weighed* find(uint64_t page) const noexcept;
  void divide(const IsolationTotals& now, TicksOf ticks_of) noexcept;
  bool remove_others(const Page* pages, uint32_t count) noexcept;
  void add(const Page& page, const IsolationTotals& now, TicksOf ticks_of, uint64_t now_ns) noexcept;
  void end_trial(const IsolationTotals& now, uint64_t now_ns) noexcept;
  static IsolationTotals totals_of(const Weighed& one, const IsolationTotals& now) noexcept;

  Weighed weighed_[kMaxPrivatePages];
  uint64_t on_trial_ = 0;  // page; 0: none
  IsolationTotals before_;
  Benefit::Paces tried_;
};

}  // namespace hpcrun
