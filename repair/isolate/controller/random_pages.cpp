#include "repair/isolate/controller/random_pages.h"

#include "repair/isolate/controller/converted_pages.h"
#include "repair/isolate/controller/isolatable_memory.h"
#include "repair/isolate/controller/known_pages.h"

namespace hpcrun {

namespace {

constexpr uint32_t kMaxChosen = 48;  // at the same time
constexpr uint64_t kChooseNs = 100'000'000;

}  // namespace

void RandomPages::offer(uint64_t page) noexcept {
  std::atomic<uint64_t>& place = offered_[page / kPageBytes % kMaxOffered];
  if (place.load(std::memory_order_relaxed) != page) place.store(page, std::memory_order_relaxed);
}

void RandomPages::choose(uint64_t now_ns) noexcept {
  if (now_ns - chosen_ns_ < kChooseNs) return;
  chosen_ns_ = now_ns;
  for_each_known(KnownPage::State::Isolated, [this](KnownPage& known) {
    constexpr uint64_t kLeaves = 4;  // one out of this many
    if (next_random() % kLeaves) return;
    isolated_pages.remove(known.page.load());
    known.state.store(KnownPage::State::Free);
  });
  asked_ = 0;
  for (const std::atomic<uint64_t>& offered : offered_)
    if (const uint64_t page = offered.load(std::memory_order_relaxed)) choose_page(page, true);
  for_each_variables(
      [](uint64_t low, uint64_t high, void* pages) noexcept {
        for (uint64_t page = low; page < high; page += kPageBytes)
          static_cast<RandomPages*>(pages)->choose_page(page, false);
      },
      this);
}

void RandomPages::choose_page(uint64_t page, bool is_allocation) noexcept {
  if (isolated_pages.count() + asked_ >= kMaxChosen || next_random() % 2) return;
  ask_for_page({page, is_allocation, 0});
  ++asked_;
}

uint64_t RandomPages::next_random() noexcept {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  return random_ ^= random_ << 17;
}

}  // namespace hpcrun
