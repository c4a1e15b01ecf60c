#include "repair/isolate/session/thread_record.h"

#include <errno.h>
#include <sys/syscall.h>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

// The original's handlers never run on it. It has room for parked.cpp and one signal frame of ours.
constexpr size_t kParkingBytes = 24 * 1024;
constexpr size_t kLeavingBytes = 8 * 1024;

constinit ThreadRecord records[kMaxThreads];
constinit std::atomic<size_t> used{0};
constinit thread_local ThreadRecord* record_here = nullptr;

// Private memory, kept for the next thread that gets the record.
bool has_stacks(ThreadRecord& record) noexcept {
  if (record.parking_stack) return true;
  void* memory = sys_mmap(nullptr, kParkingBytes + kLeavingBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  record.parking_stack = static_cast<char*>(memory) + kParkingBytes;
  record.leaving_stack = static_cast<char*>(memory) + kParkingBytes + kLeavingBytes;
  return true;
}

void reset(ThreadRecord& record) noexcept {
  record.where.store(Where::Home);
  record.process.store(0);
  record.asked_back.store(0);
  record.wanted.store(0);
  record.order.store(Order::None);
  record.is_stopped.store(0);
  record.session.store(0);
  record.program_mask.store(0);
  record.hidden_mask = 0;
  record.holds_signal = false;
  record.call_at_home = 0;
  record.passed_calls = 0;
  record.in_trap = false;
  record.converted_cpu_ns = 0;
  record.has_uncounted_time.store(false);
  record.begun_again_pc = 0;
  record.handlers_end_call = false;
}

}  // namespace

ThreadRecord* this_record() noexcept {
  return record_here;
}
void set_this_record(ThreadRecord* record) noexcept {
  record_here = record;
}

ThreadRecord* first_record() noexcept {
  return records;
}
size_t records_used() noexcept {
  return used.load(std::memory_order_acquire);
}

ThreadRecord* record_of(int tid) noexcept {
  for (size_t i = 0; i < records_used(); ++i)
    if (records[i].tid.load(std::memory_order_acquire) == tid) return &records[i];
  return nullptr;
}

ThreadRecord* take_record(int tid) noexcept {
  if (ThreadRecord* left = record_of(tid)) {
    reset(*left);
    return left;
  }
  constexpr int kTaken = -1;  // not visible to others yet
  for (size_t i = 0; i < kMaxThreads; ++i) {
    ThreadRecord& record = records[i];
    int free = 0;
    if (!record.tid.compare_exchange_strong(free, kTaken, std::memory_order_acq_rel)) continue;
    if (!has_stacks(record)) {
      record.tid.store(0, std::memory_order_release);
      return nullptr;
    }
    reset(record);
    record.tid.store(tid, std::memory_order_release);
    size_t before = used.load(std::memory_order_relaxed);
    while (before < i + 1 && !used.compare_exchange_weak(before, i + 1, std::memory_order_acq_rel)) {
    }
    return &record;
  }
  return nullptr;
}

void free_record(ThreadRecord& record) noexcept {
  record.tid.store(0, std::memory_order_release);
}

void free_records_of_ended_threads() noexcept {
  const int process = sys_getpid();
  for_each_record([process](ThreadRecord& record) {
    int tid = record.tid.load();
    if (raw_syscall(SYS_tgkill, process, tid, 0) == -ESRCH) record.tid.compare_exchange_strong(tid, 0);
  });
}

}  // namespace hpcrun
