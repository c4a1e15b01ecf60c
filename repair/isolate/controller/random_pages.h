#pragma once
// Chooses pages to isolate without evidence of sharing: a random set of the variables and recent allocations,
// replaced every kChooseNs. It exercises the mechanism. For the controller's thread, except offer(), which is
// async-signal-safe.

#include <atomic>
#include <cstdint>

namespace hpcrun {

class RandomPages {
 public:
  // Offers a page; the latest of each kind is considered.
  void offer(uint64_t page) noexcept;

  // Requests pages (known_pages.h), and makes some of the isolated ones common again.
  void choose(uint64_t now_ns) noexcept;

 private:
  static constexpr uint32_t kMaxOffered = 64;

  void choose_page(uint64_t page, bool is_allocation) noexcept;
  uint64_t next_random() noexcept;

  std::atomic<uint64_t> offered_[kMaxOffered] = {};
  uint64_t chosen_ns_ = 0;
  uint32_t asked_ = 0;
  uint64_t random_ = 0x9e3779b97f4a7c15u;
};

}  // namespace hpcrun
