// Interposes on the functions of OpenMP's runtime that code compiled by GCC calls: threads of a team wait in
// them, by system calls of the runtime's own (libgomp). Barriers, critical sections and locks are followed at
// their calls. The end of a parallel region is followed by the function that each thread executes in it: a
// thread waits from the end of its part until it gets another one.

#include "hpcrun/interpose/module_function.h"
#include "hpcrun/sync/preload/call.h"

#include <atomic>

using namespace hpcrun;

namespace hpcrun {

namespace {

constexpr bool kInTeam = true;

// The wait of a thread whose part of a region has ended. The main thread's ends with the region.
thread_local constinit LockWait team_wait __attribute__((tls_model("initial-exec")));

void end_team_wait() noexcept {
  if (const SyncInterface* const sync = followed(); sync && team_wait.is_open)
    sync->end(team_wait, false, true);
}

[[gnu::noinline]] void begin_team_wait(const void* part) noexcept {
  const SyncInterface* const sync = followed();
  if (!sync) return;
  end_team_wait();
  team_wait.kind = LockKind::Team;
  team_wait.in_team = true;
  team_wait.object = nullptr;
  team_wait.function = part;
  sync->begin(team_wait, this_library());
}

// The part of a region that a thread of the team executes.
struct Part {
  void (*function)(void*);
  void* data;
};

void do_part(void* raw) {
  end_team_wait();
  const Part part = *static_cast<const Part*>(raw);
  part.function(part.data);
  begin_team_wait(reinterpret_cast<const void*>(part.function));
}

// Runs a region. Its function receives the part of each thread as the first two arguments.
template <typename Function, typename... More>
auto in_region(Function* function, void (*part)(void*), void* data, More... more) {
  using Result = decltype(function(part, data, more...));
  if (!function) {  // a team of one
    part(data);
    return Result();
  }
  Part whole{part, data};
  if constexpr (std::is_void_v<Result>) {
    function(do_part, &whole, more...);
    end_team_wait();
  } else {
    const Result result = function(do_part, &whole, more...);
    end_team_wait();
    return result;
  }
}

template <typename Call>
[[gnu::noinline]] auto at_barrier(const void* function, Call call) {
  using Result = decltype(call());
  if (!function) return Result();
  Waiting wait(LockKind::Barrier, nullptr, function, kInTeam);
  if constexpr (std::is_void_v<Result>) {
    call();
    wait.end(false, true);
  } else {
    const Result result = call();
    wait.end(false, true);
    return result;
  }
}

// Number of threads that are in critical sections of a place, or wait for them: sections cannot be tried
// without waiting. Several sections may share a count.
std::atomic<uint32_t> inside[kLockPlaces];

template <typename Call>
[[gnu::noinline]] void wait_for_section(const void* section, const void* function, Call call) {
  Waiting wait(LockKind::CriticalSection, section, function);
  call();
  wait.end(true, true);
}

template <typename Call>
void enter_section(const void* section, const void* function, Call call) {
  if (!function) return;
  if (inside[lock_place(section)].fetch_add(1, std::memory_order_relaxed) == 0) [[likely]]
    return call();
  wait_for_section(section, function, call);
}

template <typename Call>
void leave_section(const void* section, const void* function, Call call) {
  if (!function) return;
  if (is_waited_for(section)) [[unlikely]]
    tell_release(section, LockKind::CriticalSection, function);
  call();
  inside[lock_place(section)].fetch_sub(1, std::memory_order_relaxed);
}

template <typename Ask, typename Wait>
void take_lock(const void* lock, const void* function, Ask ask, Wait wait_for) {
  if (!function || ask()) return;
  Waiting wait(LockKind::CriticalSection, lock, function);
  wait_for();
  wait.end(true, true);
}

// Records that waits run tasks from now on.
void note_tasks() noexcept {
  if (const SyncInterface* const sync = followed()) sync->begin_tasks();
}

const void* unnamed_section() noexcept {
  return reinterpret_cast<const void*>(uintptr_t{kUnnamedCriticalSection});
}

}  // namespace

}  // namespace hpcrun

// HPCRUN_RUNTIME(result, name, types of arguments): declares the runtime's function, available as
// HPCRUN_RUNTIME_OF(name) for the caller.
#define HPCRUN_RUNTIME(result, name, ...)            \
  using hpcrun_type_##name = result(__VA_ARGS__);    \
  static constinit ModuleFunction hpcrun_of_##name { \
#name                                            \
  }
#define HPCRUN_RUNTIME_OF(name) \
  (reinterpret_cast<hpcrun_type_##name*>(hpcrun_of_##name.get(__builtin_return_address(0))))
#define HPCRUN_CODE(function) reinterpret_cast<const void*>(function)

using hpcrun_part = void (*)(void*);

// libgomp.h and libgomp_g.h of GCC 4.9 to 14.
HPCRUN_RUNTIME(void, GOMP_parallel, hpcrun_part, void*, unsigned, unsigned);
HPCRUN_EXPORT void GOMP_parallel(hpcrun_part part, void* data, unsigned threads, unsigned flags) {
  in_region(HPCRUN_RUNTIME_OF(GOMP_parallel), part, data, threads, flags);
}
HPCRUN_RUNTIME(unsigned, GOMP_parallel_reductions, hpcrun_part, void*, unsigned, unsigned);
HPCRUN_EXPORT unsigned GOMP_parallel_reductions(hpcrun_part part, void* data, unsigned threads,
                                                unsigned flags) {
  return in_region(HPCRUN_RUNTIME_OF(GOMP_parallel_reductions), part, data, threads, flags);
}
HPCRUN_RUNTIME(void, GOMP_parallel_sections, hpcrun_part, void*, unsigned, unsigned, unsigned);
HPCRUN_EXPORT void GOMP_parallel_sections(hpcrun_part part, void* data, unsigned threads, unsigned count,
                                          unsigned flags) {
  in_region(HPCRUN_RUNTIME_OF(GOMP_parallel_sections), part, data, threads, count, flags);
}

#define HPCRUN_PARALLEL_LOOP(name)                                                                         \
  HPCRUN_RUNTIME(void, name, hpcrun_part, void*, unsigned, long, long, long, long, unsigned);              \
  HPCRUN_EXPORT void name(hpcrun_part part, void* data, unsigned threads, long start, long end, long step, \
                          long chunk, unsigned flags) {                                                    \
    in_region(HPCRUN_RUNTIME_OF(name), part, data, threads, start, end, step, chunk, flags);               \
  }                                                                                                        \
  static_assert(true) /* takes the semicolon */
#define HPCRUN_PARALLEL_RUNTIME_LOOP(name)                                                                 \
  HPCRUN_RUNTIME(void, name, hpcrun_part, void*, unsigned, long, long, long, unsigned);                    \
  HPCRUN_EXPORT void name(hpcrun_part part, void* data, unsigned threads, long start, long end, long step, \
                          unsigned flags) {                                                                \
    in_region(HPCRUN_RUNTIME_OF(name), part, data, threads, start, end, step, flags);                      \
  }                                                                                                        \
  static_assert(true)
HPCRUN_PARALLEL_LOOP(GOMP_parallel_loop_static);
HPCRUN_PARALLEL_LOOP(GOMP_parallel_loop_dynamic);
HPCRUN_PARALLEL_LOOP(GOMP_parallel_loop_guided);
HPCRUN_PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic);
HPCRUN_PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided);
HPCRUN_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_runtime);
HPCRUN_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime);
HPCRUN_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime);

// Functions that contain a barrier.
#define HPCRUN_BARRIER(result, name)                                      \
  HPCRUN_RUNTIME(result, name);                                           \
  HPCRUN_EXPORT result name() {                                           \
    hpcrun_type_##name* const function = HPCRUN_RUNTIME_OF(name);         \
    return at_barrier(HPCRUN_CODE(function), [=] { return function(); }); \
  }                                                                       \
  static_assert(true)
HPCRUN_BARRIER(void, GOMP_barrier);
HPCRUN_BARRIER(bool, GOMP_barrier_cancel);
HPCRUN_BARRIER(void, GOMP_loop_end);
HPCRUN_BARRIER(bool, GOMP_loop_end_cancel);
HPCRUN_BARRIER(void, GOMP_sections_end);
HPCRUN_BARRIER(bool, GOMP_sections_end_cancel);

HPCRUN_RUNTIME(void, GOMP_critical_start);
HPCRUN_EXPORT void GOMP_critical_start() {
  hpcrun_type_GOMP_critical_start* const function = HPCRUN_RUNTIME_OF(GOMP_critical_start);
  enter_section(unnamed_section(), HPCRUN_CODE(function), [=] { function(); });
}
HPCRUN_RUNTIME(void, GOMP_critical_end);
HPCRUN_EXPORT void GOMP_critical_end() {
  hpcrun_type_GOMP_critical_end* const function = HPCRUN_RUNTIME_OF(GOMP_critical_end);
  leave_section(unnamed_section(), HPCRUN_CODE(function), [=] { function(); });
}
HPCRUN_RUNTIME(void, GOMP_critical_name_start, void**);
HPCRUN_EXPORT void GOMP_critical_name_start(void** name) {
  hpcrun_type_GOMP_critical_name_start* const function = HPCRUN_RUNTIME_OF(GOMP_critical_name_start);
  enter_section(name, HPCRUN_CODE(function), [=] { function(name); });
}
HPCRUN_RUNTIME(void, GOMP_critical_name_end, void**);
HPCRUN_EXPORT void GOMP_critical_name_end(void** name) {
  hpcrun_type_GOMP_critical_name_end* const function = HPCRUN_RUNTIME_OF(GOMP_critical_name_end);
  leave_section(name, HPCRUN_CODE(function), [=] { function(name); });
}

// Older compilers pass fewer arguments, and older runtimes take fewer.
HPCRUN_RUNTIME(void, GOMP_task, hpcrun_part, void*, void (*)(void*, void*), long, long, bool, unsigned,
               void**, int, void*);
HPCRUN_EXPORT void GOMP_task(hpcrun_part task, void* data, void (*copy)(void*, void*), long bytes,
                             long alignment, bool may_wait, unsigned flags, void** depend, int priority,
                             void* detach) {
  note_tasks();
  if (const auto function = HPCRUN_RUNTIME_OF(GOMP_task))
    return function(task, data, copy, bytes, alignment, may_wait, flags, depend, priority, detach);
  task(data);
}
#define HPCRUN_TASK_LOOP(name, number)                                                                     \
  HPCRUN_RUNTIME(void, name, hpcrun_part, void*, void (*)(void*, void*), long, long, unsigned,             \
                 unsigned long, int, number, number, number);                                              \
  HPCRUN_EXPORT void name(hpcrun_part task, void* data, void (*copy)(void*, void*), long bytes,            \
                          long alignment, unsigned flags, unsigned long tasks, int priority, number start, \
                          number end, number step) {                                                       \
    note_tasks();                                                                                          \
    if (const auto function = HPCRUN_RUNTIME_OF(name))                                                     \
      function(task, data, copy, bytes, alignment, flags, tasks, priority, start, end, step);              \
  }                                                                                                        \
  static_assert(true)
HPCRUN_TASK_LOOP(GOMP_taskloop, long);
HPCRUN_TASK_LOOP(GOMP_taskloop_ull, unsigned long long);

// The functions of omp.h that acquire a lock, try it, and release it.
#define HPCRUN_OMP_LOCK(set, test, unset)                                                          \
  HPCRUN_RUNTIME(void, set, void*);                                                                \
  HPCRUN_RUNTIME(int, test, void*);                                                                \
  HPCRUN_RUNTIME(void, unset, void*);                                                              \
  HPCRUN_EXPORT void set(void* lock) {                                                             \
    hpcrun_type_##set* const function = HPCRUN_RUNTIME_OF(set);                                    \
    hpcrun_type_##test* const ask = HPCRUN_RUNTIME_OF(test);                                       \
    take_lock(                                                                                     \
        lock, HPCRUN_CODE(function), [=] { return ask && ask(lock); }, [=] { function(lock); });   \
  }                                                                                                \
  HPCRUN_EXPORT void unset(void* lock) {                                                           \
    hpcrun_type_##unset* const function = HPCRUN_RUNTIME_OF(unset);                                \
    if (!function) return;                                                                         \
    if (is_waited_for(lock)) tell_release(lock, LockKind::CriticalSection, HPCRUN_CODE(function)); \
    function(lock);                                                                                \
  }                                                                                                \
  static_assert(true)
HPCRUN_OMP_LOCK(omp_set_lock, omp_test_lock, omp_unset_lock);
HPCRUN_OMP_LOCK(omp_set_nest_lock, omp_test_nest_lock, omp_unset_nest_lock);
