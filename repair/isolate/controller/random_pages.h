#pragma once
// Chooses pages to isolate that nobody found threads to share: at random among the variables and what was
// allocated lately, some at a time, others every kChooseNs. A trial of the mechanism. For the controller's
// thread but for offer(), which is async-signal-safe.

#include <atomic>
#include <cstdint>

namespace hpcrun {

class RandomPages {
 public:
  // The latest of each kind comes into question.
  void offer(uint64_t page) noexcept;

  // Asks for pages (known_pages.h), and gives some of those that are isolated back.
  void choose(uint64_t now_ns) noexcept;

 private:
  static constexpr uint32_t kMostOffered = 64;

  void choose_page(uint64_t page, bool is_allocation) noexcept;
  uint64_t next_random() noexcept;

  std::atomic<uint64_t> offered_[kMostOffered] = {};
  uint64_t chosen_ns_ = 0;
  uint32_t asked_ = 0;
  uint64_t random_ = 0x9e3779b97f4a7c15u;
};

}  // namespace hpcrun
