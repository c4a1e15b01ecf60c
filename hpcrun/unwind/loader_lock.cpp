#include "hpcrun/unwind/loader_lock.h"

#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>

#include <algorithm>
#include <cstring>

#include "hpcrun/guest/fork_path.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

constexpr char kVariables[] = "_rtld_global";

}  // namespace

void LoaderLock::look_before() noexcept {
  if (was_looked_for_) return;
  Dl_info library;
  const Elf64_Sym* symbol = nullptr;
  void* const at = dlsym(RTLD_DEFAULT, kVariables);
  if (!at) dlerror();  // the program must not see our error
  if (!at ||
      !dladdr1(at, &library, reinterpret_cast<void**>(const_cast<Elf64_Sym**>(&symbol)), RTLD_DL_SYMENT) ||
      !symbol || library.dli_saddr != at) {
    was_looked_for_ = true;
    return;
  }
  variables_ = static_cast<const char*>(at);
  words_ = static_cast<uint32_t>(std::min<uint64_t>(symbol->st_size / sizeof(uint64_t), kMaxWords));
  thread_ = sys_gettid();
  held_count_ = 0;
  for (uint32_t word = 0; word < words_ && held_count_ < kMaxHeld; ++word)
    if (const uint32_t times = times_held(word)) held_[held_count_++] = {word, times};
}

void LoaderLock::look_inside() noexcept {
  if (was_looked_for_) return;
  was_looked_for_ = true;
  uint32_t found = 0;
  for (uint32_t word = 0; word < words_; ++word) {
    const uint32_t times = times_held(word);
    Held* const end = held_ + held_count_;
    Held* const before = std::find_if(held_, end, [word](const Held& one) { return one.word == word; });
    if (times != (before == end ? 0 : before->times) + 1) continue;
    lock_ = variables_ + word * sizeof(uint64_t);
    ++found;
  }
  if (found != 1) lock_ = nullptr;
}

// Reads a copy, because other threads may be changing the variables.
uint32_t LoaderLock::times_held(uint32_t word) const noexcept {
  if (word + sizeof(pthread_mutex_t) / sizeof(uint64_t) > words_) return 0;
  pthread_mutex_t mutex;
  std::memcpy(static_cast<void*>(&mutex), variables_ + word * sizeof(uint64_t), sizeof mutex);
  const auto& fields = mutex.__data;
  const bool is_own = fields.__kind == PTHREAD_MUTEX_RECURSIVE_NP && fields.__owner == thread_ &&
                      (fields.__lock == 1 || fields.__lock == 2) && fields.__nusers > 0;
  return is_own ? fields.__count : 0;
}

HPCRUN_FORK_PATH bool LoaderLock::is_held() const noexcept {
  return lock_ && __atomic_load_n(static_cast<const int*>(lock_), __ATOMIC_ACQUIRE) != 0;
}

}  // namespace hpcrun
