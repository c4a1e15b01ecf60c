#include "repair/isolate/controller/page_balance.h"

namespace hpcrun {

namespace {

bool holds(const PageBalance::Page* pages, uint32_t count, uint64_t page) noexcept {
  for (uint32_t i = 0; i < count; ++i)
    if (pages[i].page == page) return true;
  return false;
}

// Returns `whole` * `part` / `all`; the product may exceed 64 bits.
uint64_t part_of(uint64_t whole, uint64_t part, uint64_t all) noexcept {
  return all ? static_cast<uint64_t>(static_cast<double>(whole) * static_cast<double>(part) /
                                     static_cast<double>(all))
             : 0;
}

}  // namespace

void PageBalance::begin(const IsolationTotals& now) noexcept {
  for (Weighed& one : weighed_) one = {};
  on_trial_ = 0;
  before_ = now;
}

PageBalance::Weighed* PageBalance::find(uint64_t page) noexcept {
  for (Weighed& one : weighed_)
    if (one.page == page) return &one;
  return nullptr;
}
const PageBalance::Weighed* PageBalance::find(uint64_t page) const noexcept {
  for (const Weighed& one : weighed_)
    if (one.page == page) return &one;
  return nullptr;
}

bool PageBalance::is_due(const Page* pages, uint32_t count, uint64_t now_ns) const noexcept {
  if (on_trial_) return !holds(pages, count, on_trial_) || find(on_trial_)->benefit.is_due(now_ns);
  for (uint32_t i = 0; i < count; ++i) {
    const Weighed* const one = find(pages[i].page);
    if (!one || one->benefit.is_due(now_ns)) return true;
  }
  return false;
}

PageBalance::Verdict PageBalance::look(const Page* pages, uint32_t count, const IsolationTotals& now,
                                       TicksOf ticks_of, uint64_t now_ns) noexcept {
  divide(now, ticks_of);
  const uint64_t tried = on_trial_;
  if (remove_others(pages, count)) {
    end_trial(now, now_ns);
    return {tried, Benefit::Verdict::IsolateAgain};
  }
  for (uint32_t i = 0; i < count; ++i)
    if (!find(pages[i].page)) add(pages[i], now, ticks_of, now_ns);
  for (Weighed& one : weighed_) {
    if (!one.page || (on_trial_ && one.page != on_trial_) || !one.benefit.is_due(now_ns)) continue;
    const Benefit::Verdict is = one.benefit.look(totals_of(one, now), one.share_ppm, now_ns);
    if (is == Benefit::Verdict::GoOn) continue;
    if (is == Benefit::Verdict::MakeCommon) {
      on_trial_ = one.page;
    } else if (on_trial_) {
      tried_ = one.benefit.tried();
      end_trial(now, now_ns);
    }
    return {one.page, is};
  }
  return {};
}

// Divides the time of commits since the last check among the pages that they merged, and the time of
// conversions among the pages that they were made for.
void PageBalance::divide(const IsolationTotals& now, TicksOf ticks_of) noexcept {
  const uint64_t commit_ns = now.commit_ns - before_.commit_ns;
  const uint64_t conversion_ns = now.conversion_ns - before_.conversion_ns;
  before_ = now;
  uint64_t ticks[kMaxPrivatePages] = {}, all_ticks = 0, all_ppm = 0;
  for (uint32_t i = 0; i < kMaxPrivatePages; ++i) {
    Weighed& one = weighed_[i];
    if (!one.page) continue;
    const uint64_t counted = ticks_of(one.page);
    ticks[i] = counted > one.ticks ? counted - one.ticks : 0;
    one.ticks = counted;
    all_ticks += ticks[i];
    all_ppm += one.share_ppm;
  }
  for (uint32_t i = 0; i < kMaxPrivatePages; ++i) {
    weighed_[i].part.commit_ns += part_of(commit_ns, ticks[i], all_ticks);
    weighed_[i].part.conversion_ns += part_of(conversion_ns, weighed_[i].share_ppm, all_ppm);
  }
}

// Returns true if the page on trial was among them.
bool PageBalance::remove_others(const Page* pages, uint32_t count) noexcept {
  for (Weighed& one : weighed_)
    if (one.page && !holds(pages, count, one.page)) one = {};
  return on_trial_ && !holds(pages, count, on_trial_);
}

void PageBalance::add(const Page& page, const IsolationTotals& now, TicksOf ticks_of,
                      uint64_t now_ns) noexcept {
  Weighed* const one = find(0);
  if (!one) return;
  one->page = page.page;
  one->share_ppm = page.share_ppm;
  one->ticks = ticks_of(page.page);
  one->benefit.begin(totals_of(*one, now), now_ns);
}

void PageBalance::end_trial(const IsolationTotals& now, uint64_t now_ns) noexcept {
  for (Weighed& one : weighed_)
    if (one.page && one.page != on_trial_) one.benefit.begin_anew(totals_of(one, now), now_ns);
  on_trial_ = 0;
}

IsolationTotals PageBalance::totals_of(const Weighed& one, const IsolationTotals& now) noexcept {
  IsolationTotals totals = now;
  totals.commit_ns = one.part.commit_ns;
  totals.conversion_ns = one.part.conversion_ns;
  return totals;
}

}  // namespace hpcrun
