#include "repair/locks/move.h"

#include <errno.h>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

// Bits of __kind of the C library's mutexes (glibc 2.18 on). The low bits say what happens if a thread takes
// a mutex that it already has, the others are special properties.
constexpr int kWhenTakenAgain = 3;
constexpr int kRobust = 16;
constexpr int kInheritsPriority = 32;
constexpr int kProtectsPriority = 64;
constexpr int kShared = 128;
constexpr int kElided = 256;
constexpr int kNeverElided = 512;

bool may_be_moved(int kind, LockDeclined& reason) noexcept {
  if ((kind & ~(kWhenTakenAgain | kNeverElided)) == 0) return true;
  if (kind & kRobust)
    reason = LockDeclined::Robust;
  else if (kind & (kInheritsPriority | kProtectsPriority))
    reason = LockDeclined::Priority;
  else
    reason = kind & kElided ? LockDeclined::Elided : LockDeclined::Shared;
  return false;
}

using Fields = __pthread_mutex_s;

// Sets the shadow to the state of the mutex: one thread has it and none waits.
void lock_alike(Fields& shadow, const Fields& mutex) noexcept {
  shadow.__lock = 1;
  shadow.__count = mutex.__count;
  shadow.__owner = mutex.__owner;
  shadow.__nusers = 1;
  shadow.__kind = mutex.__kind;
  shadow.__spins = mutex.__spins;
  shadow.__elision = 0;
  shadow.__list = {};
}

// Using a lock in several processes that was not created for that is an error, but happens to work without
// prof if no thread waits. The kernel maps the same memory a second time only if it is shared (mremap(2),
// Linux 4.14).
bool lies_in_shared_memory(const void* lock) noexcept {
  constexpr uintptr_t kPage = 4096;
  const auto page = static_cast<long>(reinterpret_cast<uintptr_t>(lock) & ~(kPage - 1));
  const long result = raw_syscall(SYS_mremap, page, 0, kPage, MREMAP_MAYMOVE);
  if (result == -EINVAL) return false;
  if (result >= 0 || result < -4095) sys_munmap(reinterpret_cast<void*>(result), kPage);
  return true;
}

// Asks is_own() twice, because memory may be made common by repair/isolate between two checks.
bool is_shared(const void* lock, const LockRepair& repair) noexcept {
  return !repair.is_own(lock) && lies_in_shared_memory(lock) && !repair.is_own(lock);
}

// Each later call would make a system call with the same result.
void leave_for_good(const void* lock, LockDeclined reason, const LockRepair& repair) noexcept {
  decline_move(lock, reason, repair);
  shadow_table.leave(lock);
}

}  // namespace

void lead_to(void* lock, const ShadowLock* shadow) noexcept {
  __atomic_store_n(way_from(lock), reinterpret_cast<uintptr_t>(shadow), __ATOMIC_RELEASE);
}

void decline_move(const volatile void* lock, LockDeclined reason, const LockRepair& repair) noexcept {
  if (shadow_table.is_first_refusal(lock)) repair.declined(reason);
}

ShadowLock* take_shadow(const void* lock, const LockRepair& repair) noexcept {
  if (shadow_table.is_left(lock)) return nullptr;
  if (is_shared(lock, repair)) {
    leave_for_good(lock, LockDeclined::Shared, repair);
    return nullptr;
  }
  ShadowLock* const shadow = shadow_table.take(lock);
  if (!shadow) leave_for_good(lock, LockDeclined::NoMemory, repair);
  return shadow;
}

void move_mutex(pthread_mutex_t* mutex, const LockRepair& repair, MutexCall unlock) noexcept {
  Fields& fields = mutex->__data;
  LockDeclined reason;
  if (!may_be_moved(fields.__kind, reason)) return decline_move(mutex, reason, repair);
  ShadowLock* const shadow = take_shadow(mutex, repair);
  if (!shadow) return;
  lock_alike(shadow->mutex.__data, fields);
  shadow->original.store(mutex, std::memory_order_relaxed);
  // A thread that has it several times has the original once, and releases it at once.
  if ((fields.__kind & kWhenTakenAgain) == PTHREAD_MUTEX_RECURSIVE_NP) fields.__count = 1;
  lead_to(mutex, shadow);
  unlock(mutex);
  repair.moved(mutex);
}

// A mutex is in use while a thread has it, or waits at a condition with it. The original counts those that
// have waited since before the move.
int destroy_mutex(pthread_mutex_t* mutex, MutexCall destroy) noexcept {
  const pthread_mutex_t* const shadow = moved_to(mutex);
  if (!shadow) return destroy(mutex);
  if (__atomic_load_n(&shadow->__data.__nusers, __ATOMIC_RELAXED) != 0) return EBUSY;
  const int error = destroy(mutex);
  if (!error) lead_to(mutex, nullptr);
  return error;
}

}  // namespace hpcrun
