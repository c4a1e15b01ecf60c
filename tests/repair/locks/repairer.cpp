#include "tests/repair/locks/repairer.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "hpcrun/sync/shadow_lock.h"

namespace prof {

namespace {

constexpr unsigned kReasons = 6;

constinit std::atomic<hpcrun::SyncSwitches*> switches{nullptr};
constinit std::atomic<unsigned> moved_locks{0};
constinit std::atomic<unsigned> declined_locks[kReasons] = {};

void count_moved(const void*) noexcept {
  ++moved_locks;
}

void count_declined(hpcrun::LockDeclined reason) noexcept {
  ++declined_locks[static_cast<unsigned>(reason)];
}

template <typename Function>
void find(void* library, Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (!function) throw std::runtime_error(name);
}

NativeMutex find_native() {
  void* const library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (!library) throw std::runtime_error(dlerror());
  NativeMutex found{};
  find(library, found.init, "pthread_mutex_init");
  find(library, found.destroy, "pthread_mutex_destroy");
  find(library, found.lock, "pthread_mutex_lock");
  find(library, found.trylock, "pthread_mutex_trylock");
  find(library, found.timedlock, "pthread_mutex_timedlock");
  find(library, found.clocklock, "pthread_mutex_clocklock");
  find(library, found.unlock, "pthread_mutex_unlock");
  return found;
}

// The number of the thread's system call comes first.
bool sleeps_in_futex(const std::filesystem::path& task) {
  std::string call;
  std::ifstream(task / "syscall") >> call;
  return call == "202";
}

}  // namespace

Repairer::Repairer() : lines_(std::make_unique<hpcrun::ContendedLines>()) {
  if (!switches) throw std::runtime_error("the library in front of the locks did not come");
  moved_locks = 0;
  for (std::atomic<unsigned>& reason : declined_locks) reason = 0;
  repair_ = {lines_.get(), count_moved, count_declined, [](const void*) noexcept { return false; }};
  switches.load()->repair = &repair_;
}

Repairer::~Repairer() {
  switches.load()->repair = nullptr;
}

void Repairer::add(const volatile void* begin, size_t bytes) {
  const auto first = reinterpret_cast<uint64_t>(begin);
  for (uint64_t line = first / 64; line <= (first + bytes - 1) / 64; ++line)
    if (!lines_->add(line * 64)) throw std::runtime_error("too many lines");
}

unsigned Repairer::moved() {
  return moved_locks;
}

unsigned Repairer::declined(hpcrun::LockDeclined reason) {
  return declined_locks[static_cast<unsigned>(reason)];
}

hpcrun::SyncSwitches& lock_switches() {
  return *switches.load();
}

bool is_moved(const void* mutex) {
  const auto address = hpcrun::shadow_address(static_cast<const pthread_mutex_t*>(mutex));
  return address && reinterpret_cast<const hpcrun::ShadowLock*>(address)->original == mutex;
}

const NativeMutex& native_mutex() {
  static const NativeMutex found = find_native();
  return found;
}

const NativeMutex& our_mutex() {
  static const NativeMutex ours{pthread_mutex_init,    pthread_mutex_destroy,   pthread_mutex_lock,
                                pthread_mutex_trylock, pthread_mutex_timedlock, pthread_mutex_clocklock,
                                pthread_mutex_unlock};
  return ours;
}

void wait_for_sleepers(unsigned threads) {
  for (;;) {
    unsigned asleep = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
      if (task.path().filename() != std::to_string(gettid()) && sleeps_in_futex(task.path())) ++asleep;
    if (asleep >= threads) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

pthread_mutex_t make_mutex(int kind) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, kind);
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return mutex;
}

}  // namespace prof

// The library that interposes on the locks finds this function when it is loaded.
extern "C" __attribute__((visibility("default"))) void hpcrun_sync_attach(
    const void*, hpcrun::SyncSwitches* library) noexcept {
  prof::switches = library;
}
