#pragma once
// Finds the loader's lock that dl_iterate_phdr takes. The C library (glibc, at least up to 2.36) does not
// reinitialize it in a forked child. If the lock was held at the fork, the child's only thread would wait for
// it forever. The holder may be a thread that the child does not have. It may also be the forking thread
// itself, in a callback of dl_iterate_phdr or in a handler that interrupted one: the lock stores its owner's
// thread number, which differs in the child.
//
// The lock has no name. It is the one recursive mutex among the loader's variables that a thread acquires
// between calling dl_iterate_phdr and its callback.

#include <cstdint>

namespace hpcrun {

class LoaderLock {
 public:
  // Must be called before dl_iterate_phdr, and in its callback, by one thread at a time. Do nothing once the
  // search has succeeded or failed. The first call is not async-signal-safe.
  void look_before() noexcept;
  void look_inside() noexcept;

  // True if any thread holds the lock. False if it was not found. Async-signal-safe.
  [[nodiscard]] bool is_held() const noexcept;

  [[nodiscard]] bool is_found() const noexcept { return lock_ != nullptr; }

 private:
  // Returns how often the calling thread holds the mutex at this word of the variables. Returns 0 if no mutex
  // is there, or if another thread holds it.
  [[nodiscard]] uint32_t times_held(uint32_t word) const noexcept;

  static constexpr uint32_t kMaxHeld = 4;  // by one thread at a time: the loader has three
  static constexpr uint32_t kMaxWords = 1024;

  struct Held {
    uint32_t word, times;
  };

  bool was_looked_for_ = false;
  int thread_ = 0;
  const char* variables_ = nullptr;  // of the loader
  uint32_t words_ = 0;
  uint32_t held_count_ = 0;
  Held held_[kMaxHeld] = {};  // before the call of dl_iterate_phdr
  const void* lock_ = nullptr;
};

}  // namespace hpcrun
