#pragma once
// The first request for each page, and its outcome. Any thread makes requests, also in handlers; the
// controller's thread decides.

#include <atomic>
#include <cstdint>

#include "repair/isolate/contract/interface.h"

namespace hpcrun {

struct KnownPage {
  enum class State : uint32_t { Free, Changing, Asked, Isolated, Shared };
  std::atomic<uint64_t> page{0};
  std::atomic<State> state{State::Free};
  PageRequest request;
  WhyShared declined = WhyShared::None;  // as it was requested
  bool is_reported = false;
  uint32_t turns = 0;  // number of periods for which it was isolated, if pages are isolated in turn
};
constexpr uint32_t kMaxKnown = 256;
extern constinit KnownPage known_pages[kMaxKnown];

// Changes when there is something to decide; the controller's thread waits for that (wait_word.h).
extern constinit std::atomic<uint32_t> page_news;

// Returns nullptr if the page is not known, or, if it is to be added, if there is no room.
KnownPage* find_known(uint64_t page, bool adds) noexcept;

// The same for pages that are isolated in turn: one that had its turn makes room. Only if nothing else
// requests pages.
KnownPage* known_by_turns(uint64_t page) noexcept;

// Implement Isolation::isolate and Isolation::decline (interface.h). Async-signal-safe.
void ask_for_page(const PageRequest& request) noexcept;
void ask_against_page(const PageRequest& request, WhyShared why) noexcept;

// Must be called in a forked child.
void reset_known_pages_after_fork() noexcept;

template <typename Use>
void for_each_known(KnownPage::State state, Use use) noexcept {
  for (KnownPage& known : known_pages)
    if (known.state.load(std::memory_order_acquire) == state) use(known);
}

}  // namespace hpcrun
