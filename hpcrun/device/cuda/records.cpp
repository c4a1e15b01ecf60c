#include "hpcrun/device/cuda/records.h"

#include <stdio.h>

#include <atomic>
#include <cassert>
#include <cstddef>
#include <new>

#include "hpcrun/device/cuda/outstanding.h"
#include "hpcrun/device/device_clock.h"
#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun::cuda {

namespace {

// Small, because a buffer is delivered only when everything in it has run.
constexpr size_t kBufferBytes = 64 * 1024;
constexpr size_t kMaxBuffers = 1024;

// The time before a kill for which launches may be lost.
constexpr uint64_t kFlushIntervalNs = 100'000'000;

struct Buffer {
  Buffer* next;
};

constinit SpinLock buffer_lock;
constinit Buffer* free_buffers = nullptr;
constinit size_t buffer_count = 0;

// Held while records are passed to the engine, so that a launch stays under way until its last part is. The
// only exception to the rules of SpinLock: its holder calls the engine and reads a buffer, but waits for
// nothing else.
constinit SpinLock delivery_lock;
constinit DeviceClock clock;  // guarded by delivery_lock
constinit bool has_own_clock = false;

constinit std::atomic<uint64_t> flushed_ns{0};
constinit std::atomic<uint64_t> dropped{0};
constinit std::atomic<uint64_t> unknown{0};
constinit std::atomic<uint64_t> starved{0};

// The fields that are read have the same offsets in all versions of CUPTI since 12.0.
using KernelRecord = CUpti_ActivityKernel10;
using CopyRecord = CUpti_ActivityMemcpy6;
using PeerCopyRecord = CUpti_ActivityMemcpyPtoP4;
using FillRecord = CUpti_ActivityMemset4;
static_assert(offsetof(KernelRecord, start) == offsetof(CUpti_ActivityKernel8, start) &&
              offsetof(KernelRecord, correlationId) == offsetof(CUpti_ActivityKernel8, correlationId) &&
              offsetof(KernelRecord, name) == offsetof(CUpti_ActivityKernel8, name));
static_assert(offsetof(CopyRecord, start) == offsetof(CUpti_ActivityMemcpy5, start) &&
              offsetof(CopyRecord, runtimeCorrelationId) ==
                  offsetof(CUpti_ActivityMemcpy5, runtimeCorrelationId));

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* bytes, size_t* most_records) noexcept {
  *buffer = nullptr;
  *bytes = 0;
  *most_records = 0;
  const Locked locked(buffer_lock);
  Buffer* given = free_buffers;
  if (given) {
    free_buffers = given->next;
  } else {
    if (buffer_count < kMaxBuffers) {
      void* memory =
          sys_mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory != MAP_FAILED) given = static_cast<Buffer*>(memory);
    }
    if (!given) {
      starved.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    ++buffer_count;
  }
  *buffer = reinterpret_cast<uint8_t*>(given);
  *bytes = kBufferBytes;
}

void take_back(uint8_t* buffer) noexcept {
  if (!buffer) return;
  const Locked locked(buffer_lock);
  auto* const taken = new (buffer) Buffer{free_buffers};
  free_buffers = taken;
}

TaskKind kind_of_copy(uint8_t kind) noexcept {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return TaskKind::CopyToDevice;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return TaskKind::CopyFromDevice;
    default:
      return TaskKind::CopyOnDevice;
  }
}

struct Execution {
  TaskKind kind;
  const char* name;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t id;
  uint32_t other_id;  // 0: none
};

bool read_record(const CUpti_Activity& any, Execution& out) noexcept {
  switch (any.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& record = reinterpret_cast<const KernelRecord&>(any);
      out = {TaskKind::Kernel, record.name, 0, record.start, record.end, record.correlationId, 0};
      return true;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& record = reinterpret_cast<const CopyRecord&>(any);
      out = {kind_of_copy(record.copyKind),
             nullptr,
             record.bytes,
             record.start,
             record.end,
             record.correlationId,
             record.runtimeCorrelationId};
      return true;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto& record = reinterpret_cast<const PeerCopyRecord&>(any);
      out = {TaskKind::CopyOnDevice, nullptr, record.bytes, record.start, record.end,
             record.correlationId,   0};
      return true;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& record = reinterpret_cast<const FillRecord&>(any);
      out = {TaskKind::Fill, nullptr, record.bytes, record.start, record.end, record.correlationId, 0};
      return true;
    }
    default:
      return false;
  }
}

uint64_t monotonic(uint64_t time) noexcept {
  if (time == 0 || has_own_clock) return time;
  return clock.monotonic(time, 0, monotonic_ns());
}

void deliver(const Execution& execution) noexcept {
  assert(delivery_lock.is_held());
  Launch* launch = nullptr;
  Task* task = nullptr;
  Records records{};
  bool is_over = false;
  {
    const Locked locked(launch_lock);
    launch = launches.find(execution.id);
    if (!launch && execution.other_id) launch = launches.find(execution.other_id);
    if (launch) {
      task = launch->task;
      records = launch->records;
      is_over = launches.receive(*launch);
      if (is_over) launches.remove(launch->queue->launches, *launch);
    }
  }
  if (!launch) {
    unknown.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const uint64_t end = execution.start ? monotonic(execution.end) : 0;
  const uint64_t start = monotonic(execution.start);
  if (records == Records::One) return complete(task, start, end);
  complete_part(task, execution.kind, execution.name, execution.bytes, start, end);
  if (is_over) discard(task);
}

// Ends launches for which no records are expected any more: an empty copy, a graph with fewer parts than it
// seemed to have, a kernel whose record was dropped.
void settle(uint64_t now) noexcept {
  assert(delivery_lock.is_held());
  for (Queue* queue = first_queue(); queue; queue = queue->next) {
    for (;;) {
      Task* task = nullptr;
      Records records{};
      {
        const Locked locked(launch_lock);
        Launch* const launch = Launches::overdue(queue->launches, now);
        if (!launch) break;
        task = launch->task;
        records = launch->records;
        launches.remove(queue->launches, *launch);
      }
      records == Records::One ? complete(task, 0, 0) : discard(task);
    }
  }
}

void observe_clock() noexcept {
  const uint64_t now = monotonic_ns();
  if (has_own_clock || !clock.is_due(now)) return;
  uint64_t there = 0;
  if (cupti.cuptiGetTimestamp(&there) == CUPTI_SUCCESS) clock.observe(now, there, monotonic_ns(), now);
}

void count_dropped(CUcontext context, uint32_t stream) noexcept {
  size_t lost = 0;
  if (cupti.cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS)
    dropped.fetch_add(lost, std::memory_order_relaxed);
}

void CUPTIAPI take_records(CUcontext context, uint32_t stream, uint8_t* buffer, size_t,
                           size_t valid) noexcept {
  {
    const Locked locked(delivery_lock);
    observe_clock();
    CUpti_Activity* record = nullptr;
    Execution execution{};
    while (valid && cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
      if (read_record(*record, execution)) deliver(execution);
    settle(monotonic_ns());
  }
  count_dropped(context, stream);
  take_back(buffer);
}

uint64_t CUPTIAPI timestamp() noexcept {
  return monotonic_ns();
}

}  // namespace

CUptiResult start_records() noexcept {
  // Set before any kind is enabled, so that all records use this clock.
  has_own_clock =
      cupti.register_timestamp_callback && cupti.register_timestamp_callback(timestamp) == CUPTI_SUCCESS;
  observe_clock();
  // A thread of CUPTI does this, for buffers that are full.
  if (cupti.flush_period) cupti.flush_period(kFlushIntervalNs / 1'000'000);
  CUptiResult result = cupti.cuptiActivityRegisterCallbacks(give_buffer, take_records);
  for (const CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                        CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET})
    if (result == CUPTI_SUCCESS) result = cupti.cuptiActivityEnable(kind);
  return result;
}

void flush_records(bool force) noexcept {
  if (launches_under_way() == 0) return;
  flushed_ns.store(monotonic_ns(), std::memory_order_relaxed);
  cupti.cuptiActivityFlushAll(force ? static_cast<uint32_t>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) : 0);
}

void flush_at_times() noexcept {
  const uint64_t now = monotonic_ns();
  uint64_t before = flushed_ns.load(std::memory_order_relaxed);
  if (now - before < kFlushIntervalNs || launches_under_way() == 0 ||
      !flushed_ns.compare_exchange_strong(before, now))
    return;
  cupti.cuptiActivityFlushAll(0);
}

void finish_records() noexcept {
  flush_records(true);
  {
    const Locked locked(delivery_lock);
    settle(UINT64_MAX);
  }
  count_dropped(nullptr, 0);
  char note[160];
  if (const uint64_t count = dropped.load()) {
    snprintf(note, sizeof note, "CUDA: CUPTI dropped %llu records of tasks; device times exclude them",
             static_cast<unsigned long long>(count));
    note_degradation(note);
  }
  if (const uint64_t count = unknown.load()) {
    snprintf(note, sizeof note, "CUDA: %llu tasks had no recorded launch; device times exclude them",
             static_cast<unsigned long long>(count));
    note_degradation(note);
  }
  if (starved.load())
    note_degradation("CUDA: memory for records of tasks ran out; device times exclude some tasks");
}

void reset_records_after_fork() noexcept {
  for (SpinLock* lock : {&buffer_lock, &delivery_lock}) new (lock) SpinLock;
  free_buffers = nullptr;
  buffer_count = 0;
}

}  // namespace hpcrun::cuda
