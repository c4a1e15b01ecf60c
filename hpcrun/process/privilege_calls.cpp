// Calls by which a process loses the permission for its measurement directory, or the path to it. A forked
// child that waits for its first sample has to open its file before.

#include <grp.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/types.h>
#include <unistd.h>

#include "hpcrun/interpose/next_function.h"
#include "hpcrun/sample/state.h"

using namespace hpcrun;

// Defines the function. It starts a child that waits, and then calls the C library's function.
#define HPCRUN_STARTS_FIRST(name, declaration, ...) \
  HPCRUN_NEXT_OF(name);                             \
  HPCRUN_EXPORT int name declaration {              \
    stop_waiting_for_first_sample();                \
    return HPCRUN_NEXT(name)(__VA_ARGS__);          \
  }                                                 \
  static_assert(true) /* takes the semicolon */

HPCRUN_STARTS_FIRST(setuid, (uid_t user) noexcept, user);
HPCRUN_STARTS_FIRST(seteuid, (uid_t user) noexcept, user);
HPCRUN_STARTS_FIRST(setreuid, (uid_t real, uid_t effective) noexcept, real, effective);
HPCRUN_STARTS_FIRST(setresuid, (uid_t real, uid_t effective, uid_t saved) noexcept, real, effective, saved);
HPCRUN_STARTS_FIRST(setfsuid, (uid_t user) noexcept, user);
HPCRUN_STARTS_FIRST(setgid, (gid_t group) noexcept, group);
HPCRUN_STARTS_FIRST(setegid, (gid_t group) noexcept, group);
HPCRUN_STARTS_FIRST(setregid, (gid_t real, gid_t effective) noexcept, real, effective);
HPCRUN_STARTS_FIRST(setresgid, (gid_t real, gid_t effective, gid_t saved) noexcept, real, effective, saved);
HPCRUN_STARTS_FIRST(setgroups, (size_t count, const gid_t* groups) noexcept, count, groups);
HPCRUN_STARTS_FIRST(initgroups, (const char* user, gid_t group), user, group);
HPCRUN_STARTS_FIRST(chroot, (const char* path) noexcept, path);
HPCRUN_STARTS_FIRST(unshare, (int flags) noexcept, flags);
HPCRUN_STARTS_FIRST(setns, (int descriptor, int kind) noexcept, descriptor, kind);
