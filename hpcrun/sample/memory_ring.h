#pragma once
// Reads the kernel's records of memory accesses that hardware samples (Intel PEBS, AMD IBS), from the ring of
// one thread's event that is mapped into the process. One thread reads the ring while the kernel writes. All
// calls are async-signal-safe.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

// PERF_SAMPLE_...: the fields of each record (perf_event_open(2)). A ring belongs to one thread, so the
// thread is not among them.
extern const uint64_t kMemoryRecordFields;

struct MemoryRecord {
  uint64_t ip;           // of the instruction that made the access if is_exact; else near it
  uint64_t time_ns;      // CLOCK_MONOTONIC
  uint64_t address;      // of the data; 0: not known
  uint64_t period;       // events since the previous record
  uint64_t weight;       // cycles; 0: not known
  uint64_t data_source;  // union perf_mem_data_src
  bool is_exact;
  bool is_user;  // made in the program, not in the kernel
};

class MemoryRing {
 public:
  // Room for a few dozen records: each raises a signal.
  static constexpr size_t kBytes = 4096;

  // Maps the ring of an event that was opened with kMemoryRecordFields. Returns 0, or a negated errno: EPERM
  // if it exceeds the memory that the user may lock (kernel.perf_event_mlock_kb).
  int map(int descriptor) noexcept;
  void unmap() noexcept;
  bool is_mapped() const noexcept { return control_; }

  // Attaches to a ring in any memory: a perf_event_mmap_page, and records of `bytes` in total.
  void attach(void* control, const void* records, size_t bytes) noexcept;

  // Removes the next record and returns it in `out`. Returns false if there is none. Skips records of other
  // kinds. If a record has an impossible size, drops everything after it; the ring continues empty.
  bool next(MemoryRecord& out) noexcept;

 private:
  void copy(uint64_t from, void* to, size_t bytes) const noexcept;

  void* control_ = nullptr;
  const unsigned char* records_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace hpcrun
