#pragma once
// What was asked for of each page, once, and what became of it. Anybody asks, in handlers too; the
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
  WhyShared declined = WhyShared::None;  // as it was asked for
  bool is_told = false;
  uint32_t turns = 0;  // that it had, where pages are isolated by turns
};
constexpr uint32_t kMostKnown = 256;
extern constinit KnownPage known_pages[kMostKnown];

// Changes as there is something to decide; the controller's thread waits for that (wait_word.h).
extern constinit std::atomic<uint32_t> page_news;

// nullptr: it is not known, or where it is to be added, there is no room.
KnownPage* find_known(uint64_t page, bool adds) noexcept;

// The same for pages that are isolated by turns: one that had its turn makes room. Only where nobody else
// asks for pages.
KnownPage* known_by_turns(uint64_t page) noexcept;

// Isolation::isolate and decline (interface.h). Async-signal-safe.
void ask_for_page(const PageRequest& request) noexcept;
void ask_against_page(const PageRequest& request, WhyShared why) noexcept;

// In a forked child.
void forget_known_pages() noexcept;

template <typename Use>
void for_each_known(KnownPage::State state, Use use) noexcept {
  for (KnownPage& known : known_pages)
    if (known.state.load(std::memory_order_acquire) == state) use(known);
}

}  // namespace hpcrun
