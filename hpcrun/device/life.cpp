#include "hpcrun/device/life.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstring>
#include <new>

#include "hpcrun/device/engine_state.h"
#include "hpcrun/device/sudden_end.h"
#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/fork_path.h"
#include "hpcrun/sample/process_mark.h"

namespace hpcrun {

namespace {

// Libraries whose threads do a device's work or wait for it, by the start of their file names. Includes ours,
// whose thread (sudden_end.h) calls them.
constexpr const char* kDrivers[] = {"libpocl", "libcuda.so", "libcupti", "libnvidia-", "libprof-runtime.so"};

struct WatchedLibrary {
  const char* beginning = nullptr;
  void (*before_opening)() noexcept = nullptr;
};
constexpr size_t kMaxWatched = 4;
constinit WatchedLibrary watched[kMaxWatched];  // set by constructors, on one thread
constinit size_t watched_count = 0;

const char* file_name(const char* path) noexcept {
  const char* const slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool begins_with(const char* text, const char* beginning) noexcept {
  return std::strncmp(text, beginning, std::strlen(beginning)) == 0;
}

bool fork_lock_is_held = false;
alignas(EngineLock) unsigned char fork_lock[sizeof(EngineLock)];

bool is_used() noexcept {
  return device_activity.load(std::memory_order_acquire) != nullptr;
}

void note_incomplete() noexcept {
  uint64_t incomplete = 0;
  for (uint16_t i = 0; i < engine.device_count; ++i) incomplete += engine.schedule.totals(i).incomplete;
  if (!incomplete) return;
  char note[160];
  snprintf(note, sizeof note,
           "%llu device %s submitted, but no completion was recorded; device times exclude %s",
           static_cast<unsigned long long>(incomplete), incomplete == 1 ? "task was" : "tasks were",
           incomplete == 1 ? "it" : "them");
  process_state.file.write_note(note);
}

}  // namespace

void watch_library(const char* beginning, void (*before_opening)() noexcept) noexcept {
  if (watched_count < kMaxWatched) watched[watched_count++] = {beginning, before_opening};
}

void before_library_opens(const char* path) noexcept {
  if (!path) return;
  const char* const name = file_name(path);
  for (size_t i = 0; i < watched_count; ++i)
    if (begins_with(name, watched[i].beginning)) watched[i].before_opening();
}

void finish_devices() noexcept {
  if (!is_used()) return;
  const EngineLock lock;
  if (engine.ended) return;
  engine.ended = true;
  switch_off(device_slot);
  const uint64_t now = monotonic_ns();
  admit_threads();
  note_pauses(now);
  ask_others(now, engine.schedule.horizon(now));
  engine.schedule.finish(now);
  write_totals(now);
  note_incomplete();
  for (SharedDevice& shared : engine.shared) shared.leave();
  for (uint16_t i = 0; i < engine.device_count; ++i) engine.device_tracks[i].tree.seal();
  for (uint16_t i = 0; i < engine.queue_count; ++i) {
    engine.queues[i]->tree.seal();
    engine.queues[i]->tasks.seal();
  }
}

namespace {

void end_device_thread(ThreadState& thread) noexcept {
  DeviceThread* const device = device_slot.of(thread);
  if (!device) return;
  withdraw_waits(*device);
  const EngineLock lock;
  admit_threads();
  note_pauses(monotonic_ns());
  engine.schedule.remove_waiter(device->waiter);
  device->waits.seal();
  device_slot.set(thread, nullptr);
}

}  // namespace

HPCRUN_FORK_PATH void hold_devices() noexcept {
  if (is_alone() || !is_sampling_here()) return;
  new (fork_lock) EngineLock;
  fork_lock_is_held = true;
}

HPCRUN_FORK_PATH void let_devices_go() noexcept {
  if (!fork_lock_is_held) return;
  fork_lock_is_held = false;
  reinterpret_cast<EngineLock*>(fork_lock)->~EngineLock();
}

HPCRUN_FORK_PATH void reset_devices_after_fork() noexcept {
  switch_off(device_slot);
  if (device_activity.load(std::memory_order_relaxed))
    device_activity.store(nullptr, std::memory_order_relaxed);
  if (device_arrivals.load(std::memory_order_relaxed))
    device_arrivals.store(nullptr, std::memory_order_relaxed);
  reset_process_mark_after_fork();
  reset_sudden_end_after_fork();
  if (engine.device_count || engine.arena.bytes_mapped()) new (&engine) EngineState;
}

bool is_driver(const void* code) noexcept {
  dl_find_object found;
  if (_dl_find_object(const_cast<void*>(code), &found) != 0 || !found.dlfo_link_map) return false;
  const char* const path = found.dlfo_link_map->l_name;
  if (!path) return false;
  for (const char* driver : kDrivers)
    if (begins_with(file_name(path), driver)) return true;
  return false;
}

constexpr Hooks kDeviceHooks{.kind = &device_slot,
                             .finish = finish_devices,
                             .thread_end = end_device_thread,
                             .sudden_end = end_devices_suddenly,
                             .sample = observe_sample};

}  // namespace hpcrun
