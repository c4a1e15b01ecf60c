#include "tests/repair/isolate/isolated.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "repair/isolate/atomics/atomic_sites.h"
#include "repair/isolate/memory/common_calls.h"
#include "repair/isolate/memory/common_memory.h"
#include "repair/isolate/pages/own_pages.h"
#include "repair/isolate/session/converted_thread.h"
#include "repair/isolate/session/session.h"
#include "repair/isolate/session/thread_record.h"
#include "tests/repair/isolate/isolated_atomics.h"

#define EXPORT __attribute__((visibility("default")))

using namespace hpcrun;

namespace {

constexpr int kTries = 100;

std::atomic<uint64_t> converted_hooks, leaving_hooks, calls_begun, calls_ended;

}  // namespace

extern "C" {

EXPORT void isolated_make_common() {
  // The allocator's memory is common too: one heap that already exists.
  constexpr int kHeapBytes = 48 << 20;
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, kHeapBytes);
  free(malloc(1 << 20));
  if (make_common()) return;
  fprintf(stderr, "no common memory: %s\n", reason_not_common());
  exit(125);
}

EXPORT int isolated_begin() {
  SessionOptions options;
  options.request_signal = SIGRTMAX - 3;
  options.hooks.converted = [] {
    ++converted_hooks;
    test::take_own_pages();
  };
  options.hooks.before_leaving = [] {
    ++leaving_hooks;
    test::leave_own_pages();
  };
  options.hooks.before_call = [] {
    ++calls_begun;
    commit_own_pages();
  };
  options.hooks.after_call = [] {
    ++calls_ended;
    commit_own_pages();
  };
  options.hooks.is_busy = test::is_busy_with_own_pages;
  options.hooks.place_in_program = leave_atomic_site;
  options.hooks.before_fork = [] { leave_common(); };
  // A busy machine may take longer than a session waits.
  SessionStart result;
  int tries = 0;
  do result = begin_isolation(options);
  while (result == SessionStart::Unreachable && ++tries < kTries);
  return static_cast<int>(result);
}

EXPORT void isolated_start() {
  isolated_make_common();
  if (const int result = isolated_begin()) {
    fprintf(stderr, "no session: %d\n", result);
    exit(125);
  }
}

EXPORT void* isolated_map(uint64_t bytes) {
  const long at = common_mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at > 0 ? reinterpret_cast<void*>(at) : nullptr;
}

EXPORT bool isolated_end() {
  for (int tries = 0; tries < kTries; ++tries)
    if (end_isolation()) return true;
  return false;
}
EXPORT int isolated_convert_result() {
  return static_cast<int>(convert_this_thread());
}
EXPORT bool isolated_convert() {
  const Conversion result = convert_this_thread();
  return result == Conversion::Done || result == Conversion::AlreadyConverted;
}
EXPORT void isolated_give_back() {
  give_back();
}
EXPORT bool isolated_is_converted() {
  return is_converted();
}
EXPORT void isolated_enter_as_new_thread() {
  enter_session_as_new_thread();
}
EXPORT int isolated_thread_number() {
  return thread_number();
}
EXPORT uint64_t isolated_converted_cpu_ns() {
  return hpcrun::cpu_ns_of_converted_threads();
}
EXPORT int isolated_converted_thread_of(int tid) {
  const ThreadRecord* const record = record_of(tid);
  return record ? record->process.load() : 0;
}
EXPORT void isolated_ask_back(int tid) {
  ask_back(tid);
}
EXPORT void isolated_bring_all_home() {
  bring_all_home();
}
EXPORT void isolated_release() {
  release_converted_threads();
}

EXPORT IsolatedCounts isolated_counts() {
  const ConvertedThreadCounts& counts = converted_thread_counts();
  return {counts.conversions,
          counts.conversion_ns,
          counts.longest_conversion_ns,
          counts.refusals,
          counts.calls_by_original,
          counts.trapped_calls,
          {counts.given_back[0], counts.given_back[1], counts.given_back[2], counts.given_back[3]},
          converted_hooks,
          leaving_hooks,
          calls_begun,
          calls_ended};
}
}
