#include "prof/external_sampler/ring.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

namespace prof {

namespace {

constexpr size_t kPageBytes = 4096;

}  // namespace

PerfRing::PerfRing(int processor, size_t pages, int& error) noexcept
    : processor_(processor), bytes_(pages * kPageBytes) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_period = 1;
  attr.exclude_kernel = 1;
  attr.watermark = 1;
  attr.wakeup_watermark = static_cast<uint32_t>(bytes_ / 2);
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  descriptor_ = static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, processor, -1, PERF_FLAG_FD_CLOEXEC));
  error = descriptor_ < 0 ? errno : 0;
  if (error) return;
  void* mapped = mmap(nullptr, bytes_ + kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED)
    error = errno;
  else
    control_ = mapped;
}

PerfRing::~PerfRing() {
  if (control_) munmap(control_, bytes_ + kPageBytes);
  if (descriptor_ >= 0) close(descriptor_);
}

PerfRing::PerfRing(PerfRing&& other) noexcept
    : processor_(other.processor_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(other.bytes_),
      control_(std::exchange(other.control_, nullptr)) {}

void PerfRing::read(const std::function<void(std::span<const uint8_t>)>& take) {
  auto* control = static_cast<perf_event_mmap_page*>(control_);
  const auto* records = static_cast<const uint8_t*>(control_) + kPageBytes;
  const uint64_t head = std::atomic_ref(control->data_head).load(std::memory_order_acquire);
  uint64_t tail = control->data_tail;
  std::vector<uint8_t> joined;
  while (tail < head) {
    const size_t at = tail % bytes_;
    perf_event_header header;  // records are multiples of 8 bytes: a header is never split
    std::memcpy(&header, records + at, sizeof header);
    if (header.size < sizeof header) break;
    if (at + header.size <= bytes_) {
      take({records + at, header.size});
    } else {
      const size_t first = bytes_ - at;
      joined.assign(records + at, records + bytes_);
      joined.insert(joined.end(), records, records + header.size - first);
      take(joined);
    }
    tail += header.size;
  }
  std::atomic_ref(control->data_tail).store(head, std::memory_order_release);
}

}  // namespace prof
