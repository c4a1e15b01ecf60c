#include "repair/isolate/session/call_table.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include <array>

namespace hpcrun {

namespace {

// Newer than the headers.
constexpr int kEpollPwait2 = 441;
constexpr int kFutexWaitv = 449;
constexpr int kFutexWake = 454;
constexpr int kFutexWait = 455;
constexpr int kFutexRequeue = 456;

constexpr int kByConvertedThread[] = {SYS_read,
                                      SYS_write,
                                      SYS_open,
                                      SYS_close,
                                      SYS_stat,
                                      SYS_fstat,
                                      SYS_lstat,
                                      SYS_poll,
                                      SYS_lseek,
                                      SYS_ioctl,
                                      SYS_pread64,
                                      SYS_pwrite64,
                                      SYS_readv,
                                      SYS_writev,
                                      SYS_access,
                                      SYS_pipe,
                                      SYS_select,
                                      SYS_sched_yield,
                                      SYS_dup,
                                      SYS_dup2,
                                      SYS_nanosleep,
                                      SYS_sendfile,
                                      SYS_socket,
                                      SYS_connect,
                                      SYS_accept,
                                      SYS_sendto,
                                      SYS_recvfrom,
                                      SYS_sendmsg,
                                      SYS_recvmsg,
                                      SYS_shutdown,
                                      SYS_bind,
                                      SYS_listen,
                                      SYS_getsockname,
                                      SYS_getpeername,
                                      SYS_socketpair,
                                      SYS_setsockopt,
                                      SYS_getsockopt,
                                      SYS_uname,
                                      SYS_fcntl,
                                      SYS_flock,
                                      SYS_fsync,
                                      SYS_fdatasync,
                                      SYS_truncate,
                                      SYS_ftruncate,
                                      SYS_getdents,
                                      SYS_getcwd,
                                      SYS_chdir,
                                      SYS_fchdir,
                                      SYS_rename,
                                      SYS_mkdir,
                                      SYS_rmdir,
                                      SYS_creat,
                                      SYS_link,
                                      SYS_unlink,
                                      SYS_symlink,
                                      SYS_readlink,
                                      SYS_chmod,
                                      SYS_fchmod,
                                      SYS_chown,
                                      SYS_fchown,
                                      SYS_lchown,
                                      SYS_umask,
                                      SYS_gettimeofday,
                                      SYS_sysinfo,
                                      SYS_getuid,
                                      SYS_getgid,
                                      SYS_geteuid,
                                      SYS_getegid,
                                      SYS_getgroups,
                                      SYS_getresuid,
                                      SYS_getresgid,
                                      SYS_utime,
                                      SYS_mknod,
                                      SYS_statfs,
                                      SYS_fstatfs,
                                      SYS_sync,
                                      SYS_setxattr,
                                      SYS_lsetxattr,
                                      SYS_fsetxattr,
                                      SYS_getxattr,
                                      SYS_lgetxattr,
                                      SYS_fgetxattr,
                                      SYS_listxattr,
                                      SYS_llistxattr,
                                      SYS_flistxattr,
                                      SYS_removexattr,
                                      SYS_time,
                                      SYS_futex,
                                      SYS_getdents64,
                                      SYS_fadvise64,
                                      SYS_epoll_create,
                                      SYS_epoll_wait,
                                      SYS_epoll_ctl,
                                      SYS_clock_gettime,
                                      SYS_clock_getres,
                                      SYS_clock_nanosleep,
                                      SYS_utimes,
                                      SYS_openat,
                                      SYS_mkdirat,
                                      SYS_mknodat,
                                      SYS_fchownat,
                                      SYS_futimesat,
                                      SYS_newfstatat,
                                      SYS_unlinkat,
                                      SYS_renameat,
                                      SYS_linkat,
                                      SYS_symlinkat,
                                      SYS_readlinkat,
                                      SYS_fchmodat,
                                      SYS_faccessat,
                                      SYS_splice,
                                      SYS_tee,
                                      SYS_sync_file_range,
                                      SYS_vmsplice,
                                      SYS_utimensat,
                                      SYS_timerfd_create,
                                      SYS_timerfd_settime,
                                      SYS_timerfd_gettime,
                                      SYS_eventfd,
                                      SYS_eventfd2,
                                      SYS_fallocate,
                                      SYS_accept4,
                                      SYS_epoll_create1,
                                      SYS_dup3,
                                      SYS_pipe2,
                                      SYS_inotify_init,
                                      SYS_inotify_init1,
                                      SYS_inotify_add_watch,
                                      SYS_inotify_rm_watch,
                                      SYS_preadv,
                                      SYS_pwritev,
                                      SYS_recvmmsg,
                                      SYS_sendmmsg,
                                      SYS_syncfs,
                                      SYS_getcpu,
                                      SYS_renameat2,
                                      SYS_getrandom,
                                      SYS_memfd_create,
                                      SYS_copy_file_range,
                                      SYS_preadv2,
                                      SYS_pwritev2,
                                      SYS_statx,
                                      SYS_close_range,
                                      SYS_openat2,
                                      SYS_faccessat2,
                                      SYS_msgget,
                                      SYS_msgsnd,
                                      SYS_msgrcv,
                                      SYS_semget,
                                      SYS_semop,
                                      SYS_semtimedop,
                                      SYS_sched_getaffinity,
                                      SYS_sched_getparam,
                                      SYS_sched_getscheduler,
                                      SYS_sched_get_priority_max,
                                      SYS_sched_get_priority_min,
                                      SYS_getpriority,
                                      SYS_getpid,
                                      SYS_gettid,
                                      SYS_rt_sigprocmask,
                                      SYS_rt_sigreturn,
                                      SYS_sigaltstack,
                                      SYS_membarrier,
                                      kFutexWaitv,
                                      kFutexWake,
                                      kFutexWait,
                                      kFutexRequeue};

constexpr int kByOriginal[] = {SYS_getppid,
                               SYS_getpgid,
                               SYS_getpgrp,
                               SYS_getsid,
                               SYS_rt_sigaction,
                               SYS_rt_sigpending,
                               SYS_getitimer,
                               SYS_setitimer,
                               SYS_alarm,
                               SYS_timer_create,
                               SYS_timer_settime,
                               SYS_timer_gettime,
                               SYS_timer_getoverrun,
                               SYS_timer_delete,
                               SYS_getrusage,
                               SYS_times,
                               SYS_prctl,
                               SYS_sched_setaffinity,
                               SYS_sched_setparam,
                               SYS_sched_setscheduler,
                               SYS_sched_setattr,
                               SYS_sched_getattr,
                               SYS_sched_rr_get_interval,
                               SYS_setpriority,
                               SYS_getrlimit,
                               SYS_tgkill,
                               SYS_tkill,
                               SYS_set_robust_list,
                               SYS_get_robust_list,
                               SYS_set_tid_address,
                               SYS_capget,
                               SYS_mincore,
                               SYS_msync,
                               SYS_mlock,
                               SYS_munlock};

constexpr int kHomeAlone[] = {
    SYS_mprotect,  SYS_munmap,    SYS_mremap,     SYS_brk,       SYS_pkey_mprotect, SYS_remap_file_pages,
    SYS_shmdt,     SYS_setuid,    SYS_setgid,     SYS_setreuid,  SYS_setregid,      SYS_setresuid,
    SYS_setresgid, SYS_setgroups, SYS_setfsuid,   SYS_setfsgid,  SYS_capset,        SYS_setpgid,
    SYS_setsid,    SYS_unshare,   SYS_setns,      SYS_prlimit64, SYS_setrlimit,     SYS_personality,
    SYS_seccomp,   SYS_chroot,    SYS_pivot_root, SYS_execve,    SYS_execveat,      SYS_signalfd,
    SYS_signalfd4};

constexpr size_t kNumbers = 512;
constexpr auto kTable = [] {
  std::array<MadeBy, kNumbers> table{};
  for (auto& entry : table) entry = MadeBy::Home;
  for (const int number : kByConvertedThread) table[static_cast<size_t>(number)] = MadeBy::Converted;
  for (const int number : kByOriginal) table[static_cast<size_t>(number)] = MadeBy::Original;
  for (const int number : kHomeAlone) table[static_cast<size_t>(number)] = MadeBy::HomeAlone;
  return table;
}();

}  // namespace

MadeBy made_by(long number) noexcept {
  return number >= 0 && number < static_cast<long>(kNumbers) ? kTable[static_cast<size_t>(number)]
                                                             : MadeBy::Home;
}

int path_argument(long number) noexcept {
  switch (number) {
    case SYS_open:
    case SYS_stat:
    case SYS_lstat:
    case SYS_access:
    case SYS_readlink:
    case SYS_chdir:
      return 0;
    case SYS_openat:
    case SYS_newfstatat:
    case SYS_readlinkat:
    case SYS_faccessat:
    case SYS_statx:
    case SYS_openat2:
    case SYS_faccessat2:
      return 1;
    default:
      return -1;
  }
}

TimeLimit time_limit(long number, const long* arguments) noexcept {
  switch (number) {
    case SYS_nanosleep:
      return {TimeLimit::Timespec, 0};
    case SYS_clock_nanosleep:
      if (arguments[1] & TIMER_ABSTIME) return {};
      return {TimeLimit::Timespec, 2};
    case SYS_futex:
      if ((arguments[1] & FUTEX_CMD_MASK) != FUTEX_WAIT) return {};
      return {TimeLimit::Timespec, 3};
    case SYS_rt_sigtimedwait:
      return {TimeLimit::Timespec, 2};
    case SYS_semtimedop:
      return {TimeLimit::Timespec, 3};
    case SYS_poll:
      return {TimeLimit::Milliseconds, 2};
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
      return {TimeLimit::Milliseconds, 3};
    default:
      return {};
  }
}

EndsByHandler ends_by_handler(long number, const long* arguments) noexcept {
  const auto limited = [](long limit) { return limit ? EndsByHandler::Always : EndsByHandler::Unrestarted; };
  switch (number) {
    case SYS_futex:
      switch (arguments[1] & FUTEX_CMD_MASK) {
        case FUTEX_WAIT:
        case FUTEX_WAIT_BITSET:
          return limited(arguments[3]);
        default:
          return EndsByHandler::Never;
      }
    case kFutexWaitv:
      return limited(arguments[3]);
    case kFutexWait:
      return limited(arguments[4]);
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case kEpollPwait2:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_io_getevents:
      return EndsByHandler::Always;
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
    case SYS_open:
    case SYS_openat:
    case SYS_ioctl:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_flock:
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
    case SYS_getrandom:
      return EndsByHandler::Unrestarted;
    case SYS_fcntl:
      return arguments[1] == F_SETLKW || arguments[1] == F_OFD_SETLKW ? EndsByHandler::Unrestarted
                                                                      : EndsByHandler::Never;
    default:
      return EndsByHandler::Never;
  }
}

int time_left_argument(long number) noexcept {
  return number == SYS_nanosleep ? 1 : number == SYS_clock_nanosleep ? 3 : -1;
}

}  // namespace hpcrun
