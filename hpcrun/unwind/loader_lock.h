#pragma once
// The lock of the loader that dl_iterate_phdr takes. The C library (glibc, 2.36 at least) does not make it
// anew in a forked child, whose only thread waits for it for ever where it was held at the fork: by a thread
// that the child does not have, or, since the owner is known by a number that the child's thread has not, by
// the very thread that forks, in a callback of dl_iterate_phdr or in a handler that came in between.
//
// The lock has no name: it is that recursive mutex among the loader's variables which a thread comes to have
// as dl_iterate_phdr calls it back.

#include <cstdint>

namespace hpcrun {

class LoaderLock {
 public:
  // Before dl_iterate_phdr, and in its callback, by one thread at a time. Once it was found, or was not, the
  // calls do nothing. The first is not async-signal-safe.
  void look_before() noexcept;
  void look_inside() noexcept;

  // Does any thread have it? False where it was not found. Async-signal-safe.
  bool is_held() const noexcept;

  bool is_found() const noexcept { return lock_ != nullptr; }

 private:
  // How often the calling thread has the mutex at this word of the variables; 0: none is there, or another's.
  uint32_t times_held(uint32_t word) const noexcept;

  static constexpr uint32_t kMostHeld = 4;  // by a thread at a time: the loader has three
  static constexpr uint32_t kMostWords = 1024;

  struct Held {
    uint32_t word, times;
  };

  bool was_looked_for_ = false;
  int thread_ = 0;
  const char* variables_ = nullptr;  // of the loader
  uint32_t words_ = 0;
  uint32_t held_count_ = 0;
  Held held_[kMostHeld] = {};  // before
  const void* lock_ = nullptr;
};

}  // namespace hpcrun
