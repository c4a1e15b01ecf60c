#include "tests/repair/isolate/pass/isolated_pages.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <atomic>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/memory/common_memory.h"
#include "repair/isolate/pages/own_pages.h"
#include "repair/isolate/session/converted_thread.h"
#include "repair/isolate/session/session.h"
#include "tests/repair/isolate/isolated.h"
#include "tests/repair/isolate/pass/stepping_action.h"

#define EXPORT __attribute__((visibility("default")))

using namespace hpcrun;

namespace {

constexpr int kTries = 100;

// Used only by the thread itself, although it lies in common memory.
thread_local constinit PrivatePages pages __attribute__((tls_model("initial-exec")));
thread_local constinit uint64_t wanted_low = 0, wanted_high = 0;
std::atomic<uint64_t> put_off;

// Runs in the new converted thread with all signals blocked, so no request to come home interrupts it.
void isolate_wanted() {
  pages = PrivatePages();
  own_pages = &pages;
  for (uint64_t page = wanted_low; page < wanted_high; page += kPageBytes) pages.isolate(page);
  test::take_steps_here();
}

void share_before_leaving() {
  if (!own_pages) return;
  own_pages->leave();
  own_pages = nullptr;
}

bool is_busy() {
  const bool is = own_pages && own_pages->is_busy_until(leave_where_asked);
  if (is) ++put_off;
  return is;
}

}  // namespace

extern "C" {

EXPORT void isolated_pages_start() {
  isolated_make_common();
  if (!reserve_private_pages(common_memory_file())) exit(125);
  SessionOptions options;
  options.request_signal = SIGRTMAX - 3;
  options.hooks.converted = isolate_wanted;
  options.hooks.before_leaving = share_before_leaving;
  options.hooks.is_busy = is_busy;
  options.hooks.before_fork = [] { leave_common(); };
  for (int tries = 0; tries < kTries; ++tries) {
    const SessionStart result = begin_isolation(options);
    if (result == SessionStart::Done) return;
    if (result == SessionStart::Unreachable) continue;
    fprintf(stderr, "no session: %d\n", static_cast<int>(result));
    exit(125);
  }
}

EXPORT void isolated_pages_want(const void* address, size_t bytes) {
  const auto low = reinterpret_cast<uint64_t>(address);
  wanted_low = low & ~(kPageBytes - 1);
  wanted_high = low + bytes;
}

EXPORT bool isolated_pages_take(const void* address, size_t bytes) {
  isolated_pages_want(address, bytes);
  if (is_in_region())
    ++put_off;
  else
    convert_this_thread();
  return is_converted();
}

EXPORT void isolated_pages_leave() {
  give_back();
}

EXPORT bool isolated_pages_are_own(const void* address) {
  return own_pages && own_pages->holds(reinterpret_cast<uint64_t>(address));
}

EXPORT IsolatedPagesCounts isolated_pages_counts() {
  return {own_pages ? own_pages->commits() : 0, put_off.load()};
}

EXPORT uint64_t isolated_pages_meet(int threads, uint64_t number) {
  static std::atomic<uint64_t> come;
  const auto all = static_cast<uint64_t>(threads);
  if (number == 0) return ++come;
  return come.load() >= (number + all - 1) / all * all ? 0 : number;
}

EXPORT void isolated_pages_yield() {
  raw_syscall(SYS_sched_yield);
}

EXPORT uint64_t isolated_pages_now() {
  return monotonic_ns();
}
}
