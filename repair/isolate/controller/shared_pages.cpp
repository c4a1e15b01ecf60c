#include "repair/isolate/controller/shared_pages.h"

#include <fcntl.h>

#include <algorithm>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/controller/converted_pages.h"
#include "repair/isolate/controller/isolatable_memory.h"
#include "repair/isolate/controller/known_pages.h"
#include "repair/isolate/memory/common_state.h"
#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

namespace {

constexpr uint32_t kPart = 512;  // pages whose entries are read at once: a page of entries
constexpr uint64_t kIsPresent = uint64_t{1} << 63;

// Opens /proc/PID/pagemap; negative if it does not exist or is not accessible.
int open_page_map(int pid) noexcept {
  char path[32] = "/proc/";
  char digits[12];
  int count = 0;
  for (int rest = pid; rest > 0; rest /= 10) digits[count++] = static_cast<char>('0' + rest % 10);
  char* end = path + sizeof "/proc/" - 1;
  while (count > 0) *end++ = digits[--count];
  __builtin_memcpy(end, "/pagemap", sizeof "/pagemap");
  return static_cast<int>(
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC));
}

void raise(std::atomic<uint64_t>& most, uint64_t value) noexcept {
  uint64_t seen = most.load(std::memory_order_relaxed);
  while (seen < value && !most.compare_exchange_weak(seen, value)) continue;
}

void lower(std::atomic<uint64_t>& least, uint64_t value) noexcept {
  uint64_t seen = least.load(std::memory_order_relaxed);
  while (seen > value && !least.compare_exchange_weak(seen, value)) continue;
}

// Makes pages common that had their turn and are not written by several threads.
void end_turns() noexcept {
  for_each_known(KnownPage::State::Isolated, [](KnownPage& known) {
    const uint64_t page = known.page.load();
    if (++known.turns < SharedPages::kTurns || isolated_pages.has_several_writers(page)) return;
    isolated_pages.remove(page);
    known.state.store(KnownPage::State::Free);
  });
}

}  // namespace

void SharedPages::offer(uint64_t low, uint64_t high) noexcept {
  if (high > kAddressSpaceBytes || low >= high) return;
  low = page_down(low);
  high = page_up(high);
  PageBits& offered = common_state.hold.offered;
  if (offered.has(low) && offered.run_end(low, high) == high) return;
  lower(offered_low_, low);
  raise(offered_high_, high);
  offered.set(low, high);
}

void SharedPages::count_period(bool in_session, uint32_t working) noexcept {
  constexpr uint32_t kSeveral = 2;
  if (!in_session || working >= kSeveral) ++period_;
}

void SharedPages::look() noexcept {
  end_turns();
  if (!is_looking()) return;
  free_ = kMaxPrivatePages - std::min(isolated_pages.count(), kMaxPrivatePages);
  left_ = kMaxPages;
  passed_ = 0;
  open_converted_threads();
  constexpr uint32_t kSeveral = 2;
  if (converted_thread_count_ >= kSeveral) {
    for_each_variables(
        [](uint64_t low, uint64_t high, void* pages) noexcept {
          static_cast<SharedPages*>(pages)->look_at(low, high, false);
        },
        this);
    const PageBits& offered = common_state.hold.offered;
    const uint64_t end = offered_high_.load();
    for (uint64_t low = offered_low_.load(); low < end && !is_done();) {
      const uint64_t high = offered.run_end(low, end);
      if (offered.has(low)) look_at(low, high, true);
      low = high;
    }
    // The next pass continues there, or starts over.
    begin_at_ = is_done() ? begin_at_ + (kMaxPages - left_) : 0;
  }
  close_converted_threads();
}

void SharedPages::open_converted_threads() noexcept {
  converted_thread_count_ = 0;
  for_each_record([this](const ThreadRecord& record) {
    const int pid = record.where.load() == Where::Converted ? record.process.load() : 0;
    if (pid <= 0 || converted_thread_count_ == kMaxConvertedThreads) return;
    if (const int map = open_page_map(pid); map >= 0) converted_threads_[converted_thread_count_++] = map;
  });
}

void SharedPages::close_converted_threads() noexcept {
  while (converted_thread_count_ > 0) raw_syscall(SYS_close, converted_threads_[--converted_thread_count_]);
}

void SharedPages::look_at(uint64_t low, uint64_t high, bool is_allocation) noexcept {
  const uint64_t pages = (high - low) / kPageBytes;
  if (passed_ + pages > begin_at_ && passed_ < begin_at_) {
    low += (begin_at_ - passed_) * kPageBytes;
    passed_ = begin_at_;
  }
  if (passed_ < begin_at_) {
    passed_ += pages;
    return;
  }
  while (low < high && !is_done()) {
    const auto count = static_cast<uint32_t>(std::min<uint64_t>({kPart, (high - low) / kPageBytes, left_}));
    look_at_part(low, count, is_allocation);
    left_ -= count;
    low += count * kPageBytes;
  }
}

void SharedPages::look_at_part(uint64_t low, uint32_t count, bool is_allocation) noexcept {
  uint64_t entries[kPart];
  uint8_t touched[kPart] = {};
  for (uint32_t converted = 0; converted < converted_thread_count_; ++converted) {
    const long bytes = raw_syscall(
        SYS_pread64, converted_threads_[converted], reinterpret_cast<long>(entries),
        static_cast<long>(count * sizeof *entries), static_cast<long>(low / kPageBytes * sizeof *entries));
    for (uint32_t i = 0; i < count && static_cast<long>((i + 1) * sizeof *entries) <= bytes; ++i)
      touched[i] = static_cast<uint8_t>(touched[i] + ((entries[i] & kIsPresent) != 0));
  }
  for (uint32_t i = 0; i < count && free_ > 0; ++i) {
    constexpr uint8_t kSeveral = 2;
    if (touched[i] < kSeveral) continue;
    const uint64_t page = low + i * kPageBytes;
    KnownPage* const known = known_by_turns(page);
    if (!known || known->state.load() != KnownPage::State::Free) continue;
    known->turns = 0;
    known->request = {page, is_allocation, 0};
    known->state.store(KnownPage::State::Asked, std::memory_order_release);  // until the next period
    --free_;
  }
}

}  // namespace hpcrun
