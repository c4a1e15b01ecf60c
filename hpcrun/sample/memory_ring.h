#pragma once
// What the kernel records of memory accesses that hardware samples (Intel PEBS, AMD IBS): the ring of one
// thread's event, mapped into the process, and its records. One thread reads it; the kernel writes meanwhile.
// All calls are async-signal-safe.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

// PERF_SAMPLE_...: what is asked of each record (perf_event_open(2)). A ring is one thread's, which need not
// be told.
extern const uint64_t kMemoryRecordFields;

struct MemoryRecord {
  uint64_t ip;           // of the instruction that made the access, where it is exact; else near it
  uint64_t time_ns;      // CLOCK_MONOTONIC
  uint64_t address;      // of the data; 0: not known
  uint64_t period;       // events since the record before
  uint64_t weight;       // cycles; 0: not known
  uint64_t data_source;  // union perf_mem_data_src
  bool is_exact;
  bool is_user;  // made in the program, not in the kernel
};

class MemoryRing {
 public:
  // For some dozens of records: each raises a signal.
  static constexpr size_t kBytes = 4096;

  // Maps the ring of an event that was opened with kMemoryRecordFields. 0, or a negated errno: EPERM where it
  // exceeds what the user may lock (kernel.perf_event_mlock_kb).
  int map(int descriptor) noexcept;
  void unmap() noexcept;
  bool is_mapped() const noexcept { return control_; }

  // A ring in any memory: a perf_event_mmap_page, and records of `bytes` in all.
  void attach(void* control, const void* records, size_t bytes) noexcept;

  // Takes the next record out. False: there is none. What is no such record is stepped over; behind one whose
  // size cannot be, nothing is found, and the ring goes on empty.
  bool next(MemoryRecord& out) noexcept;

 private:
  void copy(uint64_t from, void* to, size_t bytes) const noexcept;

  void* control_ = nullptr;
  const unsigned char* records_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace hpcrun
