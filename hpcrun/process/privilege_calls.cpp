// Calls by which a process gives up the right or the way to its measurement directory. A forked child that
// waits for its first sample has to open its file before.

#include <grp.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/types.h>
#include <unistd.h>

#include "hpcrun/process/next.h"
#include "hpcrun/sample/state.h"

using namespace hpcrun;

HPCRUN_NEXT_OF(setuid);
HPCRUN_NEXT_OF(seteuid);
HPCRUN_NEXT_OF(setreuid);
HPCRUN_NEXT_OF(setresuid);
HPCRUN_NEXT_OF(setfsuid);
HPCRUN_NEXT_OF(setgid);
HPCRUN_NEXT_OF(setegid);
HPCRUN_NEXT_OF(setregid);
HPCRUN_NEXT_OF(setresgid);
HPCRUN_NEXT_OF(setgroups);
HPCRUN_NEXT_OF(initgroups);
HPCRUN_NEXT_OF(chroot);
HPCRUN_NEXT_OF(unshare);
HPCRUN_NEXT_OF(setns);

HPCRUN_EXPORT int setuid(uid_t user) noexcept {
  stop_waiting_for_first_sample();
  return HPCRUN_NEXT(setuid)(user);
}

HPCRUN_EXPORT int seteuid(uid_t user) noexcept {
  stop_waiting_for_first_sample();
  return HPCRUN_NEXT(seteuid)(user);
}

HPCRUN_EXPORT int setreuid(uid_t real, uid_t effective) noexcept {
  stop_waiting_for_first_sample();
  return HPCRUN_NEXT(setreuid)(real, effective);
}

HPCRUN_EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved) noexcept {
  stop_waiting_for_first_sample();
  return HPCRUN_NEXT(setresuid)(real, effective, saved);
}

HPCRUN_EXPORT int setfsuid(uid_t user) noexcept {
  stop_waiting_for_first_sample();
  return HPCRUN_NEXT(setfsuid)(user);
}

HPCRUN_EXPORT int setgid(gid_t group) noexcept {
  stop_waiting_for_first_sample();
  return HPCRUN_NEXT(setgid)(group);
}

HPCRUN_EXPORT int setegid(gid_t group) noexcept {
  stop_waiting_for_first_sample();
  return HPCRUN_NEXT(setegid)(group);
}

HPCRUN_EXPORT int setregid(gid_t real, gid_t effective) noexcept {
  stop_waiting_for_first_sample();
  return HPCRUN_NEXT(setregid)(real, effective);
}

HPCRUN_EXPORT int setresgid(gid_t real, gid_t effective, gid_t saved) noexcept {
  stop_waiting_for_first_sample();
  return HPCRUN_NEXT(setresgid)(real, effective, saved);
}

HPCRUN_EXPORT int setgroups(size_t count, const gid_t* groups) noexcept {
  stop_waiting_for_first_sample();
  return HPCRUN_NEXT(setgroups)(count, groups);
}

HPCRUN_EXPORT int initgroups(const char* user, gid_t group) {
  stop_waiting_for_first_sample();
  return HPCRUN_NEXT(initgroups)(user, group);
}

HPCRUN_EXPORT int chroot(const char* path) noexcept {
  stop_waiting_for_first_sample();
  return HPCRUN_NEXT(chroot)(path);
}

HPCRUN_EXPORT int unshare(int flags) noexcept {
  stop_waiting_for_first_sample();
  return HPCRUN_NEXT(unshare)(flags);
}

HPCRUN_EXPORT int setns(int descriptor, int kind) noexcept {
  stop_waiting_for_first_sample();
  return HPCRUN_NEXT(setns)(descriptor, kind);
}
