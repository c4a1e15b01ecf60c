#include "hpcrun/process/start.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/environment.h"
#include "hpcrun/guest/own_mappings.h"
#include "hpcrun/guest/own_memory.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/interpose/redirection.h"
#include "hpcrun/process/debugger_or_emulator.h"
#include "hpcrun/process/forks.h"
#include "hpcrun/process/kinds.h"
#include "hpcrun/process/outside_request.h"
#include "hpcrun/process/proc_file.h"
#include "hpcrun/process/rank_of_process.h"
#include "hpcrun/process/saved_files.h"
#include "hpcrun/process/thread_stack.h"
#include "hpcrun/process/threads.h"
#include "hpcrun/sample/first_period.h"
#include "hpcrun/sample/late_threads.h"
#include "hpcrun/sample/perf_event.h"
#include "hpcrun/sample/signal_cost.h"
#include "hpcrun/sample/sources.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/sample/thread_list.h"
#include "hpcrun/sample/waiting.h"
#include "hpcrun/signals/virtual_signals.h"
#include "hpcrun/unwind/modules.h"
#include "hpcrun/unwind/shared_tables.h"

namespace hpcrun {

constinit ProcessState process_state;  // used by a constructor: must not be initialised after it
constinit thread_local ThreadState* thread_state = nullptr;
constinit thread_local uint32_t thread_attachment = 0;
constinit thread_local bool thread_is_left_out = false;

namespace {

constexpr size_t kPathBytes = 4096;
constexpr size_t kHostBytes = 256;
constexpr size_t kEnvironmentBytes = 2048;
constexpr int kMaxFilesOfOnePid = 10'000;  // execs of one process, or runs that get a recycled pid

// Config::directory points here: a program may clear its environment.
char directory[kMaxDirectory] = {};

// True once a warning was printed. Shared with all forked processes.
std::atomic<bool>* warned_unwritable = nullptr;

void warn(const char* what, int error, const char* consequence) noexcept {
  static char line[kMaxDirectory + 256];             // the child of a fork may be on a small stack
  const char* description = strerrordesc_np(error);  // untranslated: strerror() may allocate
  if (!description) description = "unknown error";
  const int length = snprintf(line, sizeof line, "prof: %s %s: %s; process %d %s\n", what,
                              process_state.config.directory, description, sys_getpid(), consequence);
  if (length > 0) raw_syscall(SYS_write, STDERR_FILENO, reinterpret_cast<long>(line), length);
}

void warn_truncated() noexcept {
  static char line[kMaxDirectory + 256];
  const int length = snprintf(
      line, sizeof line,
      "prof: lost measurements of process %d: %s was truncated while the process ran; measure it again\n",
      sys_getpid(), process_state.file.path());
  if (length > 0) raw_syscall(SYS_write, STDERR_FILENO, reinterpret_cast<long>(line), length);
}

// Warns once for a process and all that it forks: a directory that one cannot write to, the next cannot
// either.
void warn_unwritable(int error) noexcept {
  if (warned_unwritable && warned_unwritable->exchange(true)) return;
  warn("cannot write measurements to", error,
       "runs on unmeasured (further failures of this kind are not reported)");
}

// Writes NAME=value lines; lines that do not fit are omitted.
void read_environment(char* out, size_t bytes) noexcept {
  out[0] = '\0';
  size_t used = 0;
  for (const char* name : kRecordedVariables) {
    const char* const value = environment_value(name);
    if (!value) continue;
    const int length = snprintf(out + used, bytes - used, "%s=%s\n", name, value);
    if (length > 0 && used + static_cast<size_t>(length) < bytes)
      used += static_cast<size_t>(length);
    else
      out[used] = '\0';
  }
}

void read_command(char* out, size_t bytes) noexcept {
  const size_t length = read_proc("/proc/self/cmdline", out, bytes - 1);
  for (size_t i = 0; i + 1 < length; ++i)
    if (out[i] == '\0') out[i] = ' ';
  out[length] = '\0';
}

// Creates the file. A forked child uses its parent's command, executable, host and launch. It may start at
// any instruction, and the program may be changing its environment then.
int create_file() noexcept {
  static char command[kPathBytes];
  static char executable[kPathBytes];
  static char host[kHostBytes];
  static char environment[kEnvironmentBytes];
  static int rank = -1;
  if (!process_state.is_forked || !host[0]) {
    read_command(command, sizeof command);
    const ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
    executable[length > 0 ? length : 0] = '\0';
    gethostname(host, sizeof host - 1);
    read_environment(environment, sizeof environment);
    rank = rank_of_process();
  }

  ProcessInfo process{};
  process.command = command;
  process.executable = executable;
  process.host = host;
  process.pid = sys_getpid();
  process.parent_pid = process_state.is_forked ? process_state.parent_pid : getppid();
  process.rank = rank;
  process.start_monotonic_ns = monotonic_ns();
  process.start_realtime_ns = sys_clock_ns(CLOCK_REALTIME);
  if (const uint64_t began_ns = process_state.first_period.began_ns) {
    process.start_realtime_ns -= process.start_monotonic_ns - began_ns;
    process.start_monotonic_ns = began_ns;
  }
  process.environment = environment;

  static char path[kMaxDirectory + kHostBytes + 64];
  for (int n = 0; n < kMaxFilesOfOnePid; ++n) {
    snprintf(path, sizeof path, "%s/%s-%d-%d-%d.prof", process_state.config.directory, host,
             process.rank < 0 ? 0 : process.rank, process.pid, n);
    const int error = process_state.file.create(path, process);
    if (!error) write_rank_by_mpi();
    if (error != EEXIST) return error;
  }
  return EEXIST;
}

// Starts paused if that was requested; `prof` or the program resumes. Must be called before the sources
// begin.
void pause_if_asked() noexcept {
  static char path[kMaxDirectory + sizeof kPausedMarker + 1];
  snprintf(path, sizeof path, "%s/%s", process_state.config.directory, kPausedMarker);
  if (raw_syscall(SYS_access, reinterpret_cast<long>(path), F_OK) == 0)
    process_state.file.pause_switch().pause(monotonic_ns());
}

void share_tables() noexcept {
  static char path[kMaxDirectory + sizeof kSharedTablesFolder + 1];
  snprintf(path, sizeof path, "%s/%s", process_state.config.directory, kSharedTablesFolder);
  share_tables_in(path);
}

// Devices are traced only from the start of a process. Also called in handlers, where modules are found.
void note_unfollowed_devices(const char* library) noexcept {
  static uint32_t noted_for = UINT32_MAX;  // number of the attachment
  const char* const slash = strrchr(library, '/');
  const char* const name = slash ? slash + 1 : library;
  if (strncmp(name, "libOpenCL.so", 12) != 0 && strncmp(name, "libcuda.so", 10) != 0) return;
  if (noted_for == process_state.attachment) return;
  noted_for = process_state.attachment;
  process_state.file.write_note(
      "the process's work on devices was not measured, because prof attached after it started; start it with "
      "prof run");
}

void announce_module(const ModuleInfo& module) noexcept {
  if (process_state.late.load(std::memory_order_acquire)) note_unfollowed_devices(module.path);
  process_state.file.write_module(module.id, module.path, module.start, module.end, module.load_bias,
                                  module.build_id, module.build_id_bytes, note_file(module));
  call_hooks<&Hooks::module>(module);
}

bool keep_config(const char* settings) noexcept {
  Config& config = process_state.config;
  config = Config{};
  if (!read_config(settings, config)) return false;
  const size_t length = strlen(config.directory);
  if (length >= sizeof directory) return false;
  memcpy(directory, config.directory, length + 1);
  config.directory = directory;
  return true;
}

void warn_of_valgrind() noexcept {
  char line[128];
  const int length =
      snprintf(line, sizeof line,
               "prof: process %d runs unmeasured: programs under valgrind cannot be sampled\n", sys_getpid());
  raw_syscall(SYS_write, STDERR_FILENO, reinterpret_cast<long>(line), length);
}

void choose_timer_signal() noexcept {
  if (process_state.timer_signal) return;
  const int unused = unused_realtime_signal();
  process_state.timer_signal = unused ? unused : SIGRTMAX - 1;
}

// Reserves a second signal if waiting calls are kept from samples, because the program may come to need the
// first.
void choose_spare_signal() noexcept {
  if (!process_state.protects_waits) return;
  if (!process_state.spare_signal)
    process_state.spare_signal =
        unused_realtime_signal(mask_of(process_state.timer_signal) | request_signals_of_kinds());
  process_state.protects_waits = process_state.spare_signal != 0;
}

// Accounts for start-up, which costs short programs more than their samples.
void account_start(uint64_t start_cpu_ns) noexcept {
  const uint64_t took = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_cpu_ns;
  for (const Counter counter : {Counter::HandlerNanoseconds, Counter::StartNanoseconds})
    process_state.file.counter(counter).fetch_add(took, std::memory_order_relaxed);
}

void note_time(Counter counter) noexcept {
  process_state.file.counter(counter).store(monotonic_ns(), std::memory_order_relaxed);
}

// `prof run` starts the event when the debugger detaches.
void start_unless_debugged() noexcept {
  is_debugged() ? pause_events() : start_inherited_event();
}

bool takes_few_samples(const Config& config) noexcept {
  for (uint32_t i = 0; i < config.event_count; ++i)
    if (config.events[i].rate > kFewSamples) return false;
  return config.event_count > 0 && !config.locks && !config.contention_by_pages;
}

}  // namespace

void start_sampling(StackBounds stack) noexcept {
  const uint64_t start_cpu_ns = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  process_state.pid = sys_getpid();
  if (const int error = create_file()) return warn_unwritable(error);
  if (process_state.config.isolates())
    (void)process_state.file.map_ahead();  // without room, converted threads write nothing
  else if (process_state.is_forked)
    process_state.file.keep_records();
  pause_if_asked();

  choose_timer_signal();
  share_tables();
  expect_few_walks(takes_few_samples(process_state.config));
  refresh_tables();
  call_hooks<&Hooks::prepare>();
  set_module_sink(announce_module);
  choose_sources();
  choose_spare_signal();
  call_hooks<&Hooks::start>();
  own_signals(source_signals() | wait_signals() | signals_of_kinds() | mask_of(SIGBUS));
  lower_rates();
  process_state.sampling.store(true, std::memory_order_release);
  attach_thread(stack);
  account_start(start_cpu_ns);
  start_unless_debugged();
  note_time(Counter::ProgramBeganNs);
}

void start_waiting_child(StackBounds stack) noexcept {
  const uint64_t start_cpu_ns = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  pause_events();  // start-up is not part of the period
  process_state.file.detach();
  if (const int error = create_file()) {
    disarm_first_period();
    return warn_unwritable(error);
  }
  pause_if_asked();
  set_module_sink(announce_module);
  describe_sources();
  process_state.file.counter(Counter::ProgramBeganNs)
      .store(process_state.first_period.began_ns, std::memory_order_relaxed);
  process_state.sampling.store(true, std::memory_order_release);
  leave_out_of_first_period(start_cpu_ns);
  attach_thread(stack);
  account_start(start_cpu_ns);
  start_inherited_event();
}

namespace {

void prepare_process() noexcept {
  find_vdso_clock();
  register_kinds(kKinds, kKindCount);
  void* shared =
      sys_mmap(nullptr, sizeof(std::atomic<bool>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared != MAP_FAILED) warned_unwritable = new (shared) std::atomic<bool>(false);
  follow_forks();
}

// Records memory that may be a thread's stack. The first stack grows down to its limit.
void note_memory_of_stacks(void* raw, const OwnMapping& mapping) noexcept {
  if (!mapping.is_readable || !mapping.is_writable || mapping.name[0] == '/') return;
  const bool is_first = strcmp(mapping.name, "[stack]") == 0;
  static_cast<LateThreads*>(raw)->add_memory({mapping.low, mapping.high}, is_first);
}

// Unmaps pieces of the file that stayed mapped; the file may have been removed since.
void unmap_measurements(void* path, const OwnMapping& mapping) noexcept {
  const size_t length = strlen(static_cast<const char*>(path));
  if (strncmp(mapping.name, static_cast<const char*>(path), length) != 0) return;
  const char* rest = mapping.name + length;
  if (!*rest || strcmp(rest, " (deleted)") == 0)
    sys_munmap(reinterpret_cast<void*>(mapping.low), mapping.high - mapping.low);
}

// Handlers take microseconds, and preempted ones return. A handler stopped by a debugger does not.
bool wait_for_all_at_work() noexcept {
  constexpr int kMaxWaits = 5'000;
  for (int i = 0; i < kMaxWaits; ++i) {
    if (process_state.at_work.load(std::memory_order_seq_cst) == 0) return true;
    const timespec millisecond{0, 1'000'000};
    raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&millisecond), 0);
  }
  return false;
}

void release_all_signals() noexcept {
  for (SignalMask rest = owned_signals(); rest; rest &= rest - 1) release_signal(__builtin_ctzll(rest) + 1);
}

// Frees data that stayed allocated when measuring ended, because threads could still access it then.
void clear_last_attachment() noexcept {
  process_state.file.detach();
  if (process_state.file.path()[0])
    for_each_mapping(unmap_measurements, const_cast<char*>(process_state.file.path()));
  process_state.thread_count.store(0, std::memory_order_relaxed);
  process_state.inherited_event = -1;
  process_state.timer_event = -1;
  if (LateThreads* late = process_state.late.exchange(nullptr)) late->destroy();
}

}  // namespace

void start_process() noexcept {
  static std::atomic<bool> started{false};
  // If the runtime is loaded late, it waits for start_late(), regardless of the environment.
  if (started.exchange(true) || is_loaded_late() || !keep_config(nullptr)) return;
  if (is_in_valgrind()) return warn_of_valgrind();
  find_outside_sampler();
  if (leave_to_outside()) return;
  if (hpcrun_offer_memory_source) hpcrun_offer_memory_source();  // its constructor may not have run yet
  prepare_process();
  start_sampling(stack_of_caller());
}

int start_late(const char* settings) noexcept {
  if (process_state.sampling.load() || waits_for_first_sample()) return EBUSY;
  clear_last_attachment();
  if (!keep_config(settings)) return EINVAL;
  static bool prepared = false;
  if (!prepared) prepare_process();
  prepared = true;
  LateThreads* late = LateThreads::create();
  if (!late) return ENOMEM;
  process_state.late.store(late, std::memory_order_release);
  process_state.pid = sys_getpid();
  if (const int error = create_file()) return error;
  pause_if_asked();

  for_each_mapping(note_memory_of_stacks, late);
  choose_timer_signal();
  process_state.starting = true;
  refresh_tables();
  set_module_sink(announce_module);
  choose_sources();
  call_hooks<&Hooks::start_late>();
  own_signals(source_signals() | (signals_of_kinds() & mask_of(SIGTRAP)));
  lower_rates();
  process_state.sampling.store(true, std::memory_order_seq_cst);
  process_state.starting = false;
  attach_running_threads(*late);
  note_memory();
  note_time(Counter::ProgramBeganNs);
  return 0;
}

int finish_late() noexcept {
  if (!process_state.late.load(std::memory_order_acquire) || !is_sampling_here()) return 0;
  note_time(Counter::ProgramEndedNs);
  process_state.sampling.store(false, std::memory_order_seq_cst);
  restore_calls();
  stop_inherited_event();
  const bool at_rest = wait_for_all_at_work();
  if (at_rest) {
    call_hooks<&Hooks::finish>();
    end_all_threads();
  }
  release_all_signals();
  save_gone_files();
  process_state.file.finish(monotonic_ns());
  process_state.file.release_descriptor();
  return at_rest ? 0 : ETIMEDOUT;
}

namespace {

// Returns false if sampling has ended already, or is ending in another thread.
bool finish_sampling() noexcept {
  if (!is_sampling_here()) return false;
  call_hooks<&Hooks::thread_leaves>();
  note_time(Counter::ProgramEndedNs);
  if (!process_state.sampling.exchange(false)) return false;
  stop_inherited_event();
  note_ends();
  call_hooks<&Hooks::finish>();
  return true;
}

}  // namespace

void finish_before(const char* why) noexcept {
  if (!is_sampling_here()) return;
  char note[256];
  snprintf(note, sizeof note, "Measuring ended before the program did: %s.", why);
  process_state.file.write_note(note);
  process_state.file.write_records();
  if (process_state.late.load(std::memory_order_acquire)) {
    finish_late();
  } else if (finish_sampling()) {
    process_state.protects_waits = false;
    detach_thread();
    wait_for_all_at_work();
    disarm_all_threads();
    release_all_signals();
    process_state.file.finish(monotonic_ns());
    process_state.file.release_descriptor();
  }
  process_state.is_restricted.store(true, std::memory_order_relaxed);
}

void finish_process() noexcept {
  if (!finish_sampling()) return;
  detach_thread();
  save_gone_files();
  process_state.file.finish(monotonic_ns());
  if (const int error = process_state.file.failure(); error == ESTALE)
    warn_truncated();
  else if (error)
    warn("stopped writing measurements to", error, "was measured up to then");
}

namespace {

__attribute__((constructor)) void start() noexcept {
  start_process();
}

__attribute__((destructor)) void finish() noexcept {
  finish_process();
}

}  // namespace

}  // namespace hpcrun
