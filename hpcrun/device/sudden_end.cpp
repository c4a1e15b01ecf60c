#include "hpcrun/device/sudden_end.h"

#include <linux/futex.h>
#include <pthread.h>
#include <time.h>

#include <atomic>

#include "hpcrun/device/engine.h"
#include "hpcrun/device/engine_state.h"
#include "hpcrun/device/life.h"
#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/fork_path.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

enum Stage : uint32_t { kNoThread, kAsleep, kAsked, kDone };

constinit std::atomic<uint32_t> stage{kNoThread};
constexpr uint32_t kMaxFlushes = 4;
constinit std::atomic<void (*)() noexcept> last_flushes[kMaxFlushes]{};

// Vendors' interfaces run on it.
constexpr size_t kStackBytes = 512 * 1024;

void wait_while(uint32_t value, uint64_t most_ns) noexcept {
  const timespec most{static_cast<time_t>(most_ns / 1'000'000'000),
                      static_cast<long>(most_ns % 1'000'000'000)};
  raw_syscall(SYS_futex, reinterpret_cast<long>(&stage), FUTEX_WAIT_PRIVATE, value,
              most_ns ? reinterpret_cast<long>(&most) : 0);
}

void enter(Stage next) noexcept {
  stage.store(next);
  raw_syscall(SYS_futex, reinterpret_cast<long>(&stage), FUTEX_WAKE_PRIVATE, INT32_MAX);
}

void* sleep_until_asked(void*) noexcept {
  while (stage.load() == kAsleep) wait_while(kAsleep, 0);
  for (const auto& place : last_flushes)
    if (const auto flush = place.load()) flush();
  finish_devices();
  enter(kDone);
  return nullptr;
}

}  // namespace

void flush_at_sudden_end(void (*flush)() noexcept) noexcept {
  for (auto& place : last_flushes) {
    void (*before)() noexcept = nullptr;
    if (!flush || place.compare_exchange_strong(before, flush) || before == flush) break;
  }
  uint32_t none = kNoThread;
  if (!stage.compare_exchange_strong(none, kAsleep)) return;
  pthread_attr_t attributes;
  pthread_t thread{};
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const SignalsBlocked blocked;  // the program's signals
  if (pthread_create(&thread, &attributes, sleep_until_asked, nullptr) != 0) stage.store(kNoThread);
  pthread_attr_destroy(&attributes);
}

void end_devices_suddenly() noexcept {
  uint32_t asleep = kAsleep;
  if (stage.compare_exchange_strong(asleep, kAsked)) enter(kAsked);
  const uint64_t begin = monotonic_ns();
  while (stage.load() == kAsked) {
    const uint64_t passed = monotonic_ns() - begin;
    if (passed >= kSuddenEndTimeoutNs) return;
    wait_while(kAsked, kSuddenEndTimeoutNs - passed);
  }
}

HPCRUN_FORK_PATH void reset_sudden_end_after_fork() noexcept {
  if (stage.load() != kNoThread) stage.store(kNoThread);
}

}  // namespace hpcrun
