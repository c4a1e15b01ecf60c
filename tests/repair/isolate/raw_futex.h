#pragma once
// Private futexes of a program that makes the system calls itself.

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <type_traits>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449  // Linux 5.16
#endif
constexpr long kFutexWake = 454, kFutexWait = 455, kFutexRequeue = 456;
constexpr uint32_t kPrivateWord = 2 | FUTEX_PRIVATE_FLAG;  // 32 bits

struct FutexWaiter {  // element of futex_waitv(2)
  uint64_t value;
  const void* address;
  uint32_t flags;
  uint32_t reserved;
};

template <typename T>
long as_long(T argument) {
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<long>(argument);
  else if constexpr (std::is_null_pointer_v<T>)
    return 0;
  else
    return static_cast<long>(argument);
}

// Returns the kernel's result.
template <typename... Arguments>
long call_kernel(long number, Arguments... arguments) {
  static_assert(sizeof...(arguments) <= 6);
  const long all[6] = {as_long(arguments)...};
  register long fourth asm("r10") = all[3];
  register long fifth asm("r8") = all[4];
  register long sixth asm("r9") = all[5];
  asm volatile("syscall"
               : "+a"(number)
               : "D"(all[0]), "S"(all[1]), "d"(all[2]), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return number;
}

inline long futex(std::atomic<uint32_t>* word, int operation, uint32_t value, const timespec* time = nullptr,
                  std::atomic<uint32_t>* other = nullptr, uint32_t more = 0) {
  return call_kernel(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, time, other, more);
}

// Passes a count in place of the time that other operations have.
inline const timespec* count_as_time(long count) {
  return reinterpret_cast<const timespec*>(count);
}

constexpr uint32_t wake_op(uint32_t operation, uint32_t by, uint32_t comparison, uint32_t with) {
  return operation << 28 | comparison << 24 | by << 12 | with;
}

// Reports an older kernel that lacks the call, which is not a failure.
inline bool has_call(long number) {
  if (call_kernel(number, nullptr, 0, 0, 0, 0, 0) != -ENOSYS) return true;
  printf("the kernel has no system call %ld\n", number);
  return false;
}
