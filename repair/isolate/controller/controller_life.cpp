// Creates and ends the controller's thread, handles forks, and takes the runtime's requests.

#include <errno.h>

#include <algorithm>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/atomics/atomic_sites.h"
#include "repair/isolate/atomics/trampoline.h"
#include "repair/isolate/controller/controller.h"
#include "repair/isolate/controller/controller_state.h"
#include "repair/isolate/controller/converted_pages.h"
#include "repair/isolate/controller/known_pages.h"
#include "repair/isolate/controller/planned_modules.h"
#include "repair/isolate/memory/common_memory.h"
#include "repair/isolate/memory/common_state.h"
#include "repair/isolate/memory/thread_stacks.h"
#include "repair/isolate/pages/own_pages.h"
#include "repair/isolate/session/converted_thread.h"
#include "repair/isolate/session/session.h"
#include "repair/isolate/session/signal_masks.h"
#include "repair/isolate/session/tasks.h"
#include "repair/isolate/session/thread_record.h"
#include "repair/isolate/session/wait_word.h"

namespace hpcrun {

namespace {

constexpr uint32_t kMaxForks = 8;  // more are not waited for

// Threads of a program that executes atomic instructions may use them to announce what they wrote, and be
// notified by plain loads, which cannot be intercepted. Before the first such instruction takes effect, all
// pages become common (TMI, section 3.4.2, needs a compiler for more). The C++ library's atomic operations
// are for its own guards and counters, and are only committed.
void before_atomic(uint64_t instruction) noexcept {
  if (is_of_cxx_library(instruction)) return;
  nobody_has_pages.store(true);
  const StaysHome home;
  const AllAtHome all_at_home(true);
  page_news.fetch_add(1);
  wake_all(page_news);
}

// Implements the interface.

// In a forked child, memory becomes common again when it creates a thread.
bool start(const IsolationCallbacks& host) noexcept {
  if (common_memory_file() < 0 && !has_left_common() && !is_common_awaited()) return false;
  controller.host = host;
  if (host.direct_locks.forbid) direct_calls_at.store(&controller.host.direct_locks.at);
  set_before_atomic(controller.isolates_at_random() ? nullptr : before_atomic);
  watch_changes(controller.finds_written() ? host.changed : nullptr);
  return true;
}

const char* refusal() noexcept {
  if (controller.refusal.load()) return controller.refusal.load();
  if (common_memory_file() < 0) return reason_not_common();
  switch (controller.stage.load()) {
    case Stage::Planning:
      return "the program ended before all its atomic instructions were found";
    case Stage::Asking:
      return "no thread of the program ran long enough without waiting";
    default:
      return nullptr;
  }
}

void close(const void* at, uint64_t bytes) noexcept {
  close_to_isolation(at, bytes);
}

void offer(const void* at, uint64_t bytes) noexcept {
  if (!controller.isolates_unrequested()) return;
  const auto low = reinterpret_cast<uint64_t>(at);
  const CommonCall call;
  if (common_memory_file() < 0) return;
  if (controller.finds_written()) controller.shared.offer(low, low + bytes);
  if (controller.isolates_at_random() && bytes < kMaxSmallBytes) controller.random.offer(page_down(low));
}

void totals(IsolationTotals& out) noexcept {
  sum_up(out);
}

void end() noexcept {
  controller.is_ending.store(true);
}

void refuse(const char* why) noexcept {
  controller.refusal.store(why);
}

// Creates a thread of the runtime, which does not receive the program's signals.
bool create_thread(CreateThread create) noexcept {
  constexpr size_t kStackBytes = 256 * 1024;
  ThreadStack* const stack = take_thread_stack(kStackBytes, kPageBytes, true);
  if (!stack) return false;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack->begin(), stack->bytes());
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const uint64_t mask = set_kernel_mask(kHandlerMask);
  pthread_t thread;
  const int error = create(
      &thread, &attributes,
      [](void* own_stack) -> void* {
        thread_stack_is_used(static_cast<ThreadStack*>(own_stack), sys_gettid());
        return run_controller(nullptr);
      },
      stack);
  set_kernel_mask(mask);
  pthread_attr_destroy(&attributes);
  if (error) return_thread_stack(stack);
  return !error;
}

}  // namespace

void ensure_controller(CreateThread create) noexcept {
  const int self = sys_getpid();
  int other = controller.pid.load(std::memory_order_acquire);
  if (other == self || !controller.host.request_signal || controller.is_forbidden.load()) return;
  if (common_memory_file() < 0 && !is_common_awaited()) return;
  if (!controller.pid.compare_exchange_strong(other, self)) return;
  const int error = errno;
  if (!reserve_private_pages(common_memory_file()))
    refuse("the address space has no room for private pages");
  else if (!create_thread(create))
    refuse("the thread that isolates pages cannot be created");
  errno = error;
}

namespace {

bool end_session_here() noexcept {
  if (!is_session_on()) return true;
  give_back();
  constexpr int kTries = 25;  // as often as the session itself retries during a fork
  for (int tries = 0; tries < kTries; ++tries)
    if (end_isolation()) return true;
  return false;
}

}  // namespace

void close_to_isolation(const void* at, uint64_t bytes) noexcept {
  const auto low = reinterpret_cast<uint64_t>(at);
  {
    const CommonCall call;
    // Also after a fork, while the memory is private until it becomes common again.
    const bool has_table = common_state.phase.load() != CommonPhase::None || is_common_awaited();
    if (!has_table || low + bytes >= kAddressSpaceBytes) return;
    common_state.hold.closed.set(page_down(low), page_up(low + bytes));
  }
  if (controller.pid.load(std::memory_order_relaxed)) end_isolation_of(low, low + bytes);
}

bool has_other_threads() noexcept {
  const int self = sys_gettid(), ours = controller.tid.load();
  bool has = false;
  for_each_task([&](int tid) { has |= tid != self && tid != ours && !is_dead_task(tid); });
  return has;
}

namespace {

void execute(bool is_about_to) noexcept {
  is_about_to ? static_cast<void>(end_isolation_for_fork()) : allow_isolation();
}

}  // namespace

// A thread that forks with the loader's lock, as a library's constructor may, is waited for here: nothing
// changes until it releases the lock.
void fork_begins() noexcept {
  constexpr uint64_t kMaxNs = 2'000'000'000;
  controller.forks_under_way.fetch_add(1);
  const uint64_t end_ns = monotonic_ns() + kMaxNs;
  while (controller.is_preparing.load() && monotonic_ns() < end_ns) wait_a_moment();
}

void fork_ends() noexcept {
  controller.forks_under_way.fetch_sub(1);
}

bool end_isolation_for_fork() noexcept {
  if (is_session_on()) give_back();  // a converted thread's process is not the program's
  const bool has_thread = controller.pid.load() == sys_getpid();
  controller.outlives_fork.store(has_thread && has_other_threads());
  controller.is_forbidden.store(true);
  while (controller.is_at_work.load()) raw_syscall(SYS_sched_yield);
  if (!end_session_here()) return false;
  page_news.fetch_add(1);  // our thread ends or waits
  wake_all(page_news);
  return true;
}

void isolation_after_fork_in_parent() noexcept {
  if (is_common_awaited()) return controller.is_forbidden.store(false);  // there was nothing to leave
  if (!controller.outlives_fork.load() || controller.pid.load() != sys_getpid()) return;
  const uint32_t forks = std::min(controller.forks.fetch_add(1), kMaxForks);
  controller.common_from_ns.store(monotonic_ns() + (kForkRestNs << forks));
  controller.is_forbidden.store(false);
  page_news.fetch_add(1);
  wake_all(page_news);
}

void set_common_hooks(const CommonHooks& hooks) noexcept {
  controller.common = hooks;
}

void allow_isolation() noexcept {
  controller.is_forbidden.store(false);
}

void controller_after_fork() noexcept {
  begin_sums_of_child();
  controller.pid.store(0);
  controller.is_forbidden.store(false);
  controller.outlives_fork.store(false);
  controller.forks.store(0);
  controller.was_annotated.store(false);
  controller.was_plain.store(false);
  controller.isolated_pace.store(0);
  controller.common_pace.store(0);
  controller.is_ending.store(false);
  controller.refusal.store(nullptr);
  controller.stage.store(Stage::Unborn);
  nobody_has_pages.store(false);
  controller.is_at_work.store(false);
  controller.is_preparing.store(false);
  controller.forks_under_way.store(0);
  isolated_pages.clear();
  needed_common.clear();
  reset_known_pages_after_fork();
  own_pages = nullptr;
}

void end_isolation_of(uint64_t low, uint64_t high) noexcept {
  bool is_hit = false;
  for_each_known(KnownPage::State::Isolated, [&](KnownPage& known) {
    const uint64_t page = known.page.load();
    if (page < page_down(low) || page >= page_up(high)) return;
    needed_common.add(page, static_cast<uint64_t>(WhyShared::Remapped));
    isolated_pages.remove(page);
    is_hit = true;
  });
  if (!is_hit) return;
  const StaysHome home;
  bring_all_home();
  release_converted_threads();
}

}  // namespace hpcrun

const hpcrun::Isolation hpcrun_isolation = {hpcrun::start,
                                            hpcrun::refusal,
                                            hpcrun::ask_for_page,
                                            hpcrun::ask_against_page,
                                            hpcrun::close,
                                            hpcrun::offer,
                                            hpcrun::totals,
                                            hpcrun::let_calls_pass,
                                            hpcrun::stay_home,
                                            hpcrun::leave_trampoline,
                                            hpcrun::return_from_handler,
                                            hpcrun::end,
                                            hpcrun::execute,
                                            hpcrun::is_common};
