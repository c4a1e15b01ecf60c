#pragma once
// Makes raw system calls for the sample path and the life cycle: no cancellation point, no errno, no wrapper
// that the program or another preloaded library could have replaced. All are async-signal-safe. A result in
// [-4095, -1] is a negated errno.

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

namespace hpcrun {

inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                        long f = 0) noexcept {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

inline void* sys_mmap(void* at, size_t bytes, int protection, int flags, int fd, int64_t offset) noexcept {
  const long result = raw_syscall(SYS_mmap, reinterpret_cast<long>(at), static_cast<long>(bytes), protection,
                                  flags, fd, offset);
  return result < 0 && result > -4096 ? MAP_FAILED : reinterpret_cast<void*>(result);
}

inline long sys_munmap(void* at, size_t bytes) noexcept {
  return raw_syscall(SYS_munmap, reinterpret_cast<long>(at), static_cast<long>(bytes));
}

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14

inline long sys_madvise(void* at, size_t bytes, int advice) noexcept {
  return raw_syscall(SYS_madvise, reinterpret_cast<long>(at), static_cast<long>(bytes), advice);
}

inline int sys_gettid() noexcept {
  return static_cast<int>(raw_syscall(SYS_gettid));
}
inline int sys_getpid() noexcept {
  return static_cast<int>(raw_syscall(SYS_getpid));
}

// Length of the calling thread's name, including the NUL (TASK_COMM_LEN).
constexpr size_t kThreadNameBytes = 16;
inline void sys_thread_name(char (&name)[kThreadNameBytes]) noexcept {
  name[0] = '\0';
  raw_syscall(SYS_prctl, PR_GET_NAME, reinterpret_cast<long>(name));
}

// Returns clock_gettime by system call, in nanoseconds. For monotonic time, clock.h is cheaper; thread CPU
// time is a system call either way.
inline uint64_t sys_clock_ns(clockid_t clock) noexcept {
  timespec now{};
  raw_syscall(SYS_clock_gettime, clock, reinterpret_cast<long>(&now));
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// Sends a signal that was received again, to the thread, or to the process if `tid` is 0. If the kernel
// refuses its data, or has no room for it for 2 ms, sends it without the data. A real-time signal without
// room in the queue can still be lost if sent to another thread.
inline void resend_signal(const siginfo_t& info, int tid = 0) noexcept {
  constexpr uint64_t kSendTimeoutNs = 2'000'000;
  const int process = sys_getpid(), signal = info.si_signo;
  const auto send = [=](const siginfo_t& one) {
    const auto raw = reinterpret_cast<long>(&one);
    return tid ? raw_syscall(SYS_rt_tgsigqueueinfo, process, tid, signal, raw)
               : raw_syscall(SYS_rt_sigqueueinfo, process, signal, raw);
  };
  long error = send(info);
  for (const uint64_t begin = sys_clock_ns(CLOCK_MONOTONIC);
       error == -EAGAIN && sys_clock_ns(CLOCK_MONOTONIC) - begin < kSendTimeoutNs; error = send(info))
    raw_syscall(SYS_sched_yield);
  if (error >= 0) return;
  siginfo_t plain{};  // needs no room in the queue (__send_signal_locked, kernel/signal.c)
  plain.si_signo = signal;
  plain.si_code = SI_USER;
  plain.si_pid = info.si_pid;
  plain.si_uid = info.si_uid;
  if (send(plain) >= 0) return;
  if (tid)
    raw_syscall(SYS_tgkill, process, tid, signal);
  else
    raw_syscall(SYS_kill, process, signal);
}

}  // namespace hpcrun
