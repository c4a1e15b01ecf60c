#include "repair/isolate/preload/start.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/own_memory.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/interpose/next_function.h"
#include "hpcrun/sample/config.h"
#include "repair/isolate/controller/controller.h"
#include "repair/isolate/memory/common_memory.h"
#include "repair/isolate/memory/runtime_memory.h"
#include "repair/isolate/memory/thread_stacks.h"
#include "repair/isolate/preload/second_allocator.h"
#include "repair/isolate/session/converted_thread.h"

namespace hpcrun {

namespace {

constexpr char kNotYet[] = "the process has not started";
constexpr char kNotAsked[] = "it was not requested";
constexpr char kLimited[] = "the process has limited its memory (setrlimit)";
constexpr char kForked[] = "the process has forked";

std::atomic<const char*> refusal{kNotYet};
std::atomic<bool> was_common{false};
std::atomic<int> process{0};  // the owner of the memory: a vfork child shares its parent's

// The runtime prevents the program from closing it. It replaces the previous one.
void keep_from_program(int descriptor) noexcept {
  static int kept = -1;
  if (!hpcrun_keep_descriptor) return;
  if (kept >= 0) hpcrun_keep_descriptor(kept, false);
  hpcrun_keep_descriptor(descriptor, true);
  kept = descriptor;
}

void become_common() noexcept {
  if (!make_common()) return refusal.store(reason_not_common());
  refusal.store(nullptr);
  was_common.store(true);
  allow_isolation();
  keep_from_program(common_memory_file());
}

// Memory stays private until a page is requested.
void await_isolation() noexcept {
  refusal.store(await_common() ? nullptr : reason_not_common());
}

bool is_isolation_awaited() noexcept {
  const char* const value = getenv(kEnvIsolate);
  return value && strcmp(value, kIsolateWhenAsked) == 0;
}

// The runtime's memory, which it manages itself, and ours.
void use_common_memory() noexcept {
  set_memory_source(&common_memory_source());
  if (hpcrun_set_memory_source) hpcrun_set_memory_source(&common_memory_source());
}

// Called by the controller's thread.
void note_common() noexcept {
  refusal.store(nullptr);
  was_common.store(true);
  keep_from_program(common_memory_file());
}

[[noreturn]] void end_unforked() noexcept {
  constexpr char kLine[] =
      "prof: the kernel refuses to make common memory private for a fork; the program is ended, because it "
      "would share the memory\n";
  raw_syscall(SYS_write, STDERR_FILENO, reinterpret_cast<long>(kLine), sizeof kLine - 1);
  abort();
}

}  // namespace

bool is_isolation_wanted() noexcept {
  const char* const value = getenv(kEnvIsolate);
  return value && *value && strcmp(value, "0") != 0;
}

void start_isolation() noexcept {
  static std::atomic<bool> has_begun{false};
  if (has_begun.exchange(true)) return;
  if (!is_isolation_wanted()) return refusal.store(kNotAsked);
  find_vdso_clock();
  process.store(sys_getpid());
  const bool is_awaited = is_isolation_awaited();
  begin_heap(is_awaited, getenv(kEnvIsolatingAllocator));
  set_common_hooks({.prepare = load_second_allocator,
                    .all_stopped = change_to_second_allocator,
                    .ends_call_first = CallOfFirst::defer_standstill,
                    .is_common_now = note_common});
  is_awaited ? await_isolation() : become_common();
  use_common_memory();
}

const char* isolation_refusal() noexcept {
  return refusal.load(std::memory_order_acquire);
}

void before_thread() noexcept {
  start_isolation();
  const char* const why = refusal.load();
  if (why && why != kLimited && was_common.load()) become_common();
}

namespace {

void have_private_memory() noexcept {
  // If this fails, the system call is dispatched to the session and fails there.
  if (!end_isolation_for_fork()) return;
  if (common_memory_file() >= 0) refusal.store(kForked);
  if (!leave_common()) end_unforked();
}

}  // namespace

void before_fork() noexcept {
  fork_begins();
  have_private_memory();
}

void after_fork_in_child() noexcept {
  forked_from_common();
  thread_stacks_after_fork();
  empty_pages_after_fork();
  controller_after_fork();
  process.store(sys_getpid());
}

void after_fork_in_parent() noexcept {
  fork_ends();
  isolation_after_fork_in_parent();
}

void before_limit_of_memory() noexcept {
  if ((!is_converted() && process.load() != sys_getpid()) || refusal.load() == kLimited) return;
  have_private_memory();  // no thread is converted
  if (hpcrun_set_aside_less) hpcrun_set_aside_less();
  // Our own thread may still be ending, for a long time on a busy machine. If the program has other threads,
  // the memory stays as it was left.
  constexpr int kMinTries = 50, kMaxTries = 5'000;
  for (int tries = 0; tries < kMinTries || (tries < kMaxTries && !has_other_threads()); ++tries) {
    if (!end_common()) end_unforked();
    if (!has_left_common()) break;
    const timespec millisecond{0, 1'000'000};
    raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&millisecond), 0);
  }
  refusal.store(kLimited);
}

namespace {

__attribute__((constructor(101))) void start() noexcept {
  start_isolation();
}

}  // namespace

}  // namespace hpcrun

HPCRUN_EXPORT void hpcrun_offer_memory_source() noexcept {
  hpcrun::start_isolation();
}

HPCRUN_EXPORT const char* hpcrun_isolation_refusal() noexcept {
  return hpcrun::isolation_refusal();
}
