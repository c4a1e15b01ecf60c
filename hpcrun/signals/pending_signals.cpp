#include "hpcrun/signals/pending_signals.h"

#include <atomic>
#include <cerrno>

#include "hpcrun/guest/fork_path.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

// The state of an entry: free, being written or read (busy), or its order, thread and signal in one word. A
// thread that changes it by compare-and-swap owns the entry.
using Key = uint64_t;
constexpr Key kFree = 0;
constexpr Key kBusy = ~Key{0};
constexpr int kSignalBits = 7;
constexpr int kThreadBits = 22;  // the kernel's PID_MAX_LIMIT

constexpr Key key_of(uint64_t order, int tid, int signal) {
  return order << (kThreadBits + kSignalBits) | static_cast<Key>(tid) << kSignalBits |
         static_cast<Key>(signal);
}
constexpr int signal_of(Key key) {
  return static_cast<int>(key & ((Key{1} << kSignalBits) - 1));
}
constexpr int thread_of(Key key) {
  return static_cast<int>(key >> kSignalBits & ((Key{1} << kThreadBits) - 1));
}
constexpr bool is_taken(Key key) {
  return key != kFree && key != kBusy;
}
constexpr bool is_for(Key key, int tid) {
  return is_taken(key) && (thread_of(key) == 0 || thread_of(key) == tid);
}

struct Entry {
  std::atomic<Key> key{kFree};
  siginfo_t info = {};
};

constexpr size_t kMaxPending = 256;
constinit Entry entries[kMaxPending];
constinit std::atomic<uint64_t> next_order{1};
constinit std::atomic<int> used{0};  // entries in use: masks change often, and usually nothing is pending

struct Waiter {
  std::atomic<int> tid{0};
  std::atomic<SignalMask> waited{0};
};
constexpr size_t kMaxWaiters = 64;
constinit Waiter waiters[kMaxWaiters];

void wake_waiters(int signal) noexcept {
  const int self = sys_gettid();
  for (Waiter& waiter : waiters) {
    const int tid = waiter.tid.load();
    if (tid && tid != self && (waiter.waited.load() & mask_of(signal))) wake(tid, signal);
  }
}

void remove(Entry& entry, Key key) noexcept {
  if (entry.key.compare_exchange_strong(key, kFree)) used.fetch_sub(1);
}

// Drops signals for threads that have ended, which would fill the queue permanently.
void remove_pending_of_dead_threads() noexcept {
  for (Entry& entry : entries) {
    const Key key = entry.key.load();
    if (is_taken(key) && thread_of(key) && raw_syscall(SYS_tgkill, sys_getpid(), thread_of(key), 0) == -ESRCH)
      remove(entry, key);
  }
}

// Claims the entry, copies it, and frees it.
bool take(Entry& entry, Key key, siginfo_t& info) noexcept {
  if (!entry.key.compare_exchange_strong(key, kBusy)) return false;
  info = entry.info;
  entry.key.store(kFree);
  used.fetch_sub(1);
  return true;
}

Entry* reserve() noexcept {
  for (Entry& entry : entries) {
    Key free = kFree;
    if (!entry.key.compare_exchange_strong(free, kBusy)) continue;
    used.fetch_add(1);
    return &entry;
  }
  return nullptr;
}

}  // namespace

bool put_pending(const siginfo_t& info, int tid) noexcept {
  const int signal = info.si_signo;
  if (mask_of(signal) & kStandardSignals) {
    for (const Entry& entry : entries) {
      const Key key = entry.key.load();
      if (is_taken(key) && signal_of(key) == signal && thread_of(key) == tid) return true;
    }
  }
  Entry* entry = reserve();
  if (!entry) {
    remove_pending_of_dead_threads();
    entry = reserve();
  }
  if (!entry) return false;
  entry->info = info;
  entry->key.store(key_of(next_order.fetch_add(1), tid, signal));
  if (!tid) wake_waiters(signal);
  return true;
}

bool take_pending(int signal, siginfo_t& info) noexcept {
  const int tid = sys_gettid();
  for (;;) {
    Entry* oldest = nullptr;
    Key oldest_key = kBusy;
    for (Entry& entry : entries) {
      const Key key = entry.key.load();
      if (!is_for(key, tid) || signal_of(key) != signal || key > oldest_key) continue;
      oldest = &entry;
      oldest_key = key;
    }
    if (!oldest) return false;
    if (take(*oldest, oldest_key, info)) return true;
  }
}

SignalMask pending_here() noexcept {
  if (used.load() == 0) return 0;
  const int tid = sys_gettid();
  SignalMask pending = 0;
  for (const Entry& entry : entries) {
    const Key key = entry.key.load();
    if (is_for(key, tid)) pending |= mask_of(signal_of(key));
  }
  return pending;
}

void remove_pending(int signal) noexcept {
  for (Entry& entry : entries) {
    const Key key = entry.key.load();
    if (is_taken(key) && signal_of(key) == signal) remove(entry, key);
  }
}

void remove_pending_of(int signal, int tid) noexcept {
  for (Entry& entry : entries) {
    const Key key = entry.key.load();
    if (is_taken(key) && signal_of(key) == signal && thread_of(key) == tid) remove(entry, key);
  }
}

void give_pending_to_kernel(int signal) noexcept {
  siginfo_t info;
  for (Entry& entry : entries) {
    const Key key = entry.key.load();
    if (!is_taken(key) || signal_of(key) != signal || !take(entry, key, info)) continue;
    resend_signal(info, thread_of(key));
  }
}

void begin_wait(SignalMask waited) noexcept {
  const int self = sys_gettid();
  for (Waiter& waiter : waiters) {
    int free = 0;
    if (!waiter.tid.compare_exchange_strong(free, self)) continue;
    waiter.waited.store(waited);
    return;
  }
}

void end_wait() noexcept {
  const int self = sys_gettid();
  for (Waiter& waiter : waiters) {
    if (waiter.tid.load() != self) continue;
    waiter.waited.store(0);
    waiter.tid.store(0);
    return;
  }
}

long wake(int tid, int signal) noexcept {
  siginfo_t wake_up{};
  wake_up.si_signo = signal;
  wake_up.si_code = SI_QUEUE;
  wake_up.si_value.sival_ptr = waiters;
  return raw_syscall(SYS_rt_tgsigqueueinfo, sys_getpid(), tid, wake_up.si_signo,
                     reinterpret_cast<long>(&wake_up));
}

bool is_wake_up(const siginfo_t& info) noexcept {
  if (info.si_code == SI_QUEUE) return info.si_value.sival_ptr == waiters;
  // The kernel drops the data of standard signals if the user has more than RLIMIT_SIGPENDING queued.
  const bool tells_nothing = info.si_code == SI_USER && info.si_pid == 0;
  return tells_nothing && (pending_here() & mask_of(info.si_signo));
}

HPCRUN_FORK_PATH void pending_signals_after_fork() noexcept {
  // Most of these pages are untouched; writing to them would copy them for the child.
  if (used.load() != 0) {
    used.store(0);
    for (Entry& entry : entries) entry.key.store(kFree);
  }
  for (Waiter& waiter : waiters)
    if (waiter.tid.load() != 0) waiter.tid.store(0);
}

}  // namespace hpcrun
