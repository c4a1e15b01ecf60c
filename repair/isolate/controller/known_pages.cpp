#include "repair/isolate/controller/known_pages.h"

#include "repair/isolate/pages/own_pages.h"
#include "repair/isolate/session/wait_word.h"

namespace hpcrun {

constinit KnownPage known_pages[kMaxKnown];
constinit std::atomic<uint32_t> page_news{0};

KnownPage* find_known(uint64_t page, bool adds) noexcept {
  const uint64_t first = page / kPageBytes * 0x9e3779b97f4a7c15u >> 56;
  for (uint32_t step = 0; step < kMaxKnown; ++step) {
    KnownPage& one = known_pages[(first + step) % kMaxKnown];
    uint64_t there = one.page.load(std::memory_order_acquire);
    if (there == page) return &one;
    if (there) continue;
    if (!adds) return nullptr;
    if (one.page.compare_exchange_strong(there, page, std::memory_order_acq_rel)) return &one;
    if (there == page) return &one;
  }
  return nullptr;
}

KnownPage* known_by_turns(uint64_t page) noexcept {
  if (KnownPage* const known = find_known(page, true)) return known;
  for (KnownPage& one : known_pages) {
    if (one.state.load(std::memory_order_acquire) != KnownPage::State::Free) continue;
    one.page.store(page, std::memory_order_release);
    return &one;
  }
  return nullptr;
}

void ask_for_page(const PageRequest& request) noexcept {
  KnownPage* const known = find_known(page_down(request.address), true);
  KnownPage::State free = KnownPage::State::Free;
  if (!known || !known->state.compare_exchange_strong(free, KnownPage::State::Changing)) return;
  known->request = request;
  known->state.store(KnownPage::State::Asked, std::memory_order_release);
  page_news.fetch_add(1);
  wake_all(page_news);
}

void ask_against_page(const PageRequest& request, WhyShared why) noexcept {
  KnownPage* const known = find_known(page_down(request.address), true);
  if (!known) return;
  KnownPage::State free = KnownPage::State::Free;
  if (known->state.compare_exchange_strong(free, KnownPage::State::Changing)) {
    known->request = request;
    known->declined = why;
    known->state.store(KnownPage::State::Asked, std::memory_order_release);
  } else if (known->state.load() == KnownPage::State::Isolated) {
    needed_common.add(known->page.load(), static_cast<uint64_t>(why));
  }
  page_news.fetch_add(1);
  wake_all(page_news);
}

void reset_known_pages_after_fork() noexcept {
  for (KnownPage& known : known_pages) {
    known.page.store(0);
    known.state.store(KnownPage::State::Free);
    known.declined = WhyShared::None;
    known.is_reported = false;
    known.turns = 0;
  }
}

}  // namespace hpcrun
