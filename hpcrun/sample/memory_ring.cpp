#include "hpcrun/sample/memory_ring.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

constexpr size_t kControlBytes = 4096;

// A PERF_RECORD_SAMPLE with kMemoryRecordFields, in the order given in perf_event_open(2).
struct Sample {
  perf_event_header header;
  uint64_t ip;
  uint64_t time;
  uint64_t address;
  uint64_t period;
  uint64_t weight;
  uint64_t data_source;
};

perf_event_mmap_page& page_of(void* control) noexcept {
  return *static_cast<perf_event_mmap_page*>(control);
}

MemoryRecord record_of(const Sample& sample) noexcept {
  const bool is_user = (sample.header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
  const bool is_exact = (sample.header.misc & PERF_RECORD_MISC_EXACT_IP) != 0;
  return {sample.ip,     sample.time,        sample.address, sample.period,
          sample.weight, sample.data_source, is_exact,       is_user};
}

}  // namespace

const uint64_t kMemoryRecordFields = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                                     PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;

int MemoryRing::map(int descriptor) noexcept {
  const long at =
      raw_syscall(SYS_mmap, 0, kControlBytes + kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (at < 0 && at > -4096) return static_cast<int>(at);
  auto* const control = reinterpret_cast<unsigned char*>(at);
  attach(control, control + kControlBytes, kBytes);
  return 0;
}

void MemoryRing::unmap() noexcept {
  if (control_) sys_munmap(control_, kControlBytes + kBytes);
  *this = MemoryRing{};
}

void MemoryRing::attach(void* control, const void* records, size_t bytes) noexcept {
  control_ = control;
  records_ = static_cast<const unsigned char*>(records);
  bytes_ = bytes;
}

// Copies bytes of a record, which may wrap around the end of the ring.
void MemoryRing::copy(uint64_t from, void* to, size_t bytes) const noexcept {
  const size_t at = from % bytes_;
  const size_t first = std::min(bytes, bytes_ - at);
  memcpy(to, records_ + at, first);
  memcpy(static_cast<unsigned char*>(to) + first, records_, bytes - first);
}

bool MemoryRing::next(MemoryRecord& out) noexcept {
  if (!control_) return false;
  perf_event_mmap_page& page = page_of(control_);
  const uint64_t head = std::atomic_ref(page.data_head).load(std::memory_order_acquire);
  uint64_t tail = page.data_tail;
  bool found = false;
  while (tail != head && !found) {
    const uint64_t left = head - tail;
    Sample sample;
    if (left <= bytes_ && left >= sizeof sample.header) copy(tail, &sample.header, sizeof sample.header);
    if (left > bytes_ || left < sizeof sample.header || sample.header.size < sizeof sample.header ||
        sample.header.size > left) {
      tail = head;
      break;
    }
    found = sample.header.type == PERF_RECORD_SAMPLE && sample.header.size == sizeof sample;
    if (found) {
      copy(tail, &sample, sizeof sample);
      out = record_of(sample);
    }
    tail += sample.header.size;
  }
  // Stored after the copy: the kernel may overwrite what is before it.
  std::atomic_ref(page.data_tail).store(tail, std::memory_order_release);
  return found;
}

}  // namespace hpcrun
