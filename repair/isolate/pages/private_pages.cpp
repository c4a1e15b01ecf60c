#include "repair/isolate/pages/private_pages.h"

#include <sys/mman.h>

#include <cassert>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/pages/merge.h"

namespace hpcrun {

namespace {

constexpr size_t kRoomBytes = kMaxPrivatePages * kPageBytes;
static_assert(kMaxPrivatePages <= 64, "used_slots_ has a bit for each");
static_assert(kPageBytes % kScanBytes == 0 && kScanBytes % kBlockBytes == 0);

int common_file = -1;
using Scan = size_t(const std::byte* page, const std::byte* base, const std::byte* common, size_t from,
                    size_t bytes) noexcept;
struct Scans {
  Scan* of[3];  // by Stores
};
constexpr Scans kScans = {
    {next_to_merge<Stores::Own>, next_to_merge<Stores::Others>, next_to_merge<Stores::All>}};
constexpr Scans kWideScans = {
    {next_to_merge_wide<Stores::Own>, next_to_merge_wide<Stores::Others>, next_to_merge_wide<Stores::All>}};
constexpr Scans kWidestScans = {{next_to_merge_widest<Stores::Own>, next_to_merge_widest<Stores::Others>,
                                 next_to_merge_widest<Stores::All>}};
const Scans* scans = &kScans;
ChangedLine changed_line = nullptr;
uint64_t views = 0;        // the converted threads' view of the common pages of their private ones
uint64_t bases = 0;        // the last common contents that they have seen
uint64_t last_number = 0;  // of all processes, in shared memory

uint64_t page_of(uint64_t address) noexcept {
  return address & ~(kPageBytes - 1);
}
uint64_t view_of(uint32_t slot) noexcept {
  return views + slot * kPageBytes;
}
uint64_t base_of(uint32_t slot) noexcept {
  return bases + slot * kPageBytes;
}
std::byte* at(uint64_t address) noexcept {
  return reinterpret_cast<std::byte*>(address);
}

// Returns the bytes from `low` to `high`, within one line, in which the page differs from its base.
uint64_t changed_in_line(const std::byte* page, const std::byte* base, size_t low, size_t high) noexcept {
  uint64_t changed = 0;
  for (size_t at = low; at < high; at += kBlockBytes) {
    const Block now = _mm_load_si128(reinterpret_cast<const Block*>(page + at));
    const Block then = _mm_load_si128(reinterpret_cast<const Block*>(base + at));
    changed |= uint64_t{kAllSame & ~same_bytes(now, then)} << (at % kScanBytes);
  }
  return changed;
}

// Must be called before they are merged.
void tell_changed(uint64_t page, uint64_t base, size_t low, size_t high) noexcept {
  if (!changed_line) [[likely]]
    return;
  for (size_t end; low < high; low = end) {
    const size_t line = low & ~(kScanBytes - 1);
    end = high < line + kScanBytes ? high : line + kScanBytes;
    if (const uint64_t bytes = changed_in_line(at(page), at(base), low, end))
      changed_line(page + line, bytes);
  }
}

bool map(uint64_t address, int protection, int flags, int file, uint64_t offset) noexcept {
  return sys_mmap(at(address), kPageBytes, protection, MAP_FIXED | flags, file,
                  static_cast<int64_t>(offset)) != MAP_FAILED;
}

void map_nothing(uint64_t address) noexcept {
  map(address, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

// The common page, which other processes may access at any time.
struct CommonView {
  std::byte* view;

  Block load(size_t offset) const noexcept { return *reinterpret_cast<const volatile Block*>(view + offset); }
  void store(size_t offset, uint64_t word) const noexcept {
    __atomic_store_n(reinterpret_cast<uint64_t*>(view + offset), word, __ATOMIC_RELEASE);
  }
  bool exchange(size_t offset, uint64_t& seen, uint64_t word) const noexcept {
    return __atomic_compare_exchange_n(reinterpret_cast<uint64_t*>(view + offset), &seen, word, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  }
};

}  // namespace

// Handlers leave the pages alone while one lives.
class PrivatePages::Busy {
 public:
  explicit Busy(PrivatePages& pages) noexcept : pages_(pages), before_(pages.busy_) { set(true); }
  ~Busy() {
    set(before_);
    if (!before_) done_with(pages_);
  }
  // Does what handlers deferred.
  static void done_with(PrivatePages& pages) noexcept {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!pages.done_) [[likely]]
      return;
    const auto done = pages.done_;
    pages.done_ = nullptr;
    done();
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  void set(bool busy) noexcept {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    pages_.busy_ = busy;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  PrivatePages& pages_;
  bool before_;
};

bool reserve_private_pages(int file) noexcept {
  common_file = file;
  if (views) return true;
  void* const room =
      sys_mmap(nullptr, 2 * kRoomBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  if (has_widest_scan())
    scans = &kWidestScans;
  else if (has_wide_scan())
    scans = &kWideScans;
  views = reinterpret_cast<uint64_t>(room);
  bases = views + kRoomBytes;
  return true;
}

void report_changed_lines(ChangedLine changed) noexcept {
  changed_line = changed;
}

uint32_t PrivatePages::find(uint64_t address) const noexcept {
  uint32_t place = 0;
  while (place < count_ && pages_[place].address != page_of(address)) ++place;
  return place;
}

void PrivatePages::begin(uint32_t place) noexcept {
  place_ = place;
  set(owes_, false);
  set(number_, __atomic_add_fetch(&last_number, 1, __ATOMIC_RELAXED));
  count_ = 0;
  used_slots_ = 0;
  aside_count_ = 0;
  busy_ = false;
  has_view_ = false;
  done_ = nullptr;
}

bool PrivatePages::isolate(uint64_t address) noexcept {
  if (holds(address)) return true;
  // A stack that the program allocated, on which the thread runs, must not be private.
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  constexpr uint64_t kStackBytes = 64 * 1024;
  const bool is_near = address < here + kStackBytes && here < address + kStackBytes;
  if (count_ == kMaxPrivatePages || is_near) return false;
  const Busy busy(*this);
  const uint64_t page = page_of(address);
  const auto slot = static_cast<uint32_t>(__builtin_ctzll(~used_slots_));
  if (!map(view_of(slot), PROT_READ | PROT_WRITE, MAP_SHARED, common_file, page)) return false;
  if (!map(base_of(slot), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    map_nothing(view_of(slot));
    return false;
  }
  // One reading for both.
  __builtin_memcpy(at(base_of(slot)), at(view_of(slot)), kPageBytes);
  if (!map(page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    map_nothing(view_of(slot));
    map_nothing(base_of(slot));
    return false;
  }
  __builtin_memcpy(at(page), at(base_of(slot)), kPageBytes);
  pages_[count_] = {page, slot, cost_of(page)};
  ++count_;
  used_slots_ |= uint64_t{1} << slot;
  return true;
}

uint32_t PrivatePages::merge_page(uint32_t place, Stores stores) noexcept {
  Scan* const scan = scans->of[static_cast<size_t>(stores)];
  std::byte* const page = at(pages_[place].address);
  std::byte* const base = at(base_of(pages_[place].slot));
  std::byte* const view = at(view_of(pages_[place].slot));
  uint32_t words = 0;
  for (size_t from = 0;; from += kScanBytes) {
    from = scan(page, base, view, from, kPageBytes);
    if (from == kPageBytes) return words;
    tell_changed(pages_[place].address, base_of(pages_[place].slot), from, from + kScanBytes);
    CommonView common{view + from};
    words += merge(common, page + from, base + from, kScanBytes);
  }
}

// Returns the index of the page's cost, or else the entry of a page that the thread no longer has.
uint32_t PrivatePages::cost_of(uint64_t page) noexcept {
  uint32_t free = 0;
  for (uint32_t cost = 0; cost < kMaxPrivatePages; ++cost) {
    if (costs_[cost].page == page) return cost;
    if (costs_[free].page && !costs_[cost].page) free = cost;
  }
  while (costs_[free].page && holds(costs_[free].page)) ++free;  // fewer than kMaxPrivatePages are in use
  set(costs_[free].page, page);
  set(costs_[free].ticks, uint64_t{0});
  return free;
}

uint64_t PrivatePages::timed_ticks_of(uint64_t page) const noexcept {
  for (const Cost& cost : costs_)
    if (__atomic_load_n(&cost.page, __ATOMIC_RELAXED) == page)
      return __atomic_load_n(&cost.ticks, __ATOMIC_RELAXED);
  return 0;
}

uint64_t PrivatePages::merge_timed(Stores stores) noexcept {
  uint64_t words = 0;
  uint64_t before = __builtin_ia32_rdtsc();
  for (uint32_t place = 0; place < count_; ++place) {
    words += merge_page(place, stores);
    const uint64_t now = __builtin_ia32_rdtsc();
    uint64_t& ticks = costs_[pages_[place].cost].ticks;
    __atomic_store_n(&ticks, ticks + (now - before), __ATOMIC_RELAXED);
    before = now;
  }
  return words;
}

void PrivatePages::commit_pages(Stores stores) noexcept {
  const Busy busy(*this);
  const bool is_timed = commits_ % kTimed == 0;
  const uint64_t begin = is_timed ? __builtin_ia32_rdtsc() : 0;
  uint64_t words = 0;
  if (is_timed)
    words = merge_timed(stores);
  else
    for (uint32_t place = 0; place < count_; ++place) words += merge_page(place, stores);
  if (is_timed)
    __atomic_store_n(&timed_ticks_, timed_ticks_ + (__builtin_ia32_rdtsc() - begin), __ATOMIC_RELAXED);
  __atomic_store_n(&commits_, commits_ + 1, __ATOMIC_RELAXED);
  __atomic_store_n(&merged_, merged_ + words, __ATOMIC_RELAXED);
  if (stores == Stores::Others) return;
  set(own_commits_, own_commits_ + 1);
  set(owes_, false);
}

uint64_t PrivatePages::common_address(uint64_t address) const noexcept {
  const uint32_t place = find(address);
  return place == count_ ? address : view_of(pages_[place].slot) + (address - page_of(address));
}

bool PrivatePages::is_outdated() const noexcept {
  assert(!busy_);
  Scan* const scan = scans->of[static_cast<size_t>(Stores::Others)];
  for (uint32_t place = 0; place < count_; ++place) {
    const uint32_t slot = pages_[place].slot;
    if (scan(at(pages_[place].address), at(base_of(slot)), at(view_of(slot)), 0, kPageBytes) < kPageBytes)
      return true;
  }
  return false;
}

bool PrivatePages::is_outdated(uint64_t address, size_t bytes) const noexcept {
  assert(!busy_);
  const uint32_t place = find(address);
  if (place == count_) return false;
  const uint32_t slot = pages_[place].slot;
  const size_t from = address - pages_[place].address;
  const size_t end = from + bytes < kPageBytes ? from + bytes : kPageBytes;
  for (size_t offset = from; offset < end; ++offset) {
    const std::byte known = at(base_of(slot))[offset];
    const std::byte common = *reinterpret_cast<const volatile std::byte*>(at(view_of(slot)) + offset);
    if (common != known && at(pages_[place].address)[offset] == known) return true;
  }
  return false;
}

void PrivatePages::refresh_page(uint32_t place, uint64_t low, uint64_t high) noexcept {
  const size_t from = (low - pages_[place].address) & ~(kBlockBytes - 1);
  const size_t to = (high - pages_[place].address + kBlockBytes - 1) & ~(kBlockBytes - 1);
  const uint32_t slot = pages_[place].slot;
  tell_changed(pages_[place].address, base_of(slot), from, to);
  CommonView common{at(view_of(slot)) + from};
  const uint32_t words = merge(common, at(pages_[place].address) + from, at(base_of(slot)) + from, to - from);
  if (words) __atomic_store_n(&merged_, merged_ + words, __ATOMIC_RELAXED);
}

void PrivatePages::refresh(uint64_t address, size_t bytes) noexcept {
  const Busy busy(*this);
  for (uint64_t low = address; low < address + bytes; low = page_of(low) + kPageBytes) {
    const uint64_t end_of_page = page_of(low) + kPageBytes;
    const uint64_t high = address + bytes < end_of_page ? address + bytes : end_of_page;
    if (const uint32_t place = find(low); place < count_) refresh_page(place, low, high);
  }
}

void PrivatePages::merge_around(uint64_t address, size_t bytes, Commit all, Stores stores) noexcept {
  if (all == Commit::Yes)
    commit_pages(stores);
  else
    refresh(address, bytes);
}

// Leaves the object busy for handlers: they must not commit, change what is private, or bring the thread
// home.
uint64_t PrivatePages::open_view(uint64_t address, size_t bytes, Commit before) noexcept {
  has_view_ = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  busy_ = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (page_of(address) != page_of(address + bytes - 1)) {
    share(address);
    share(address + bytes - 1);
  }
  merge_around(address, bytes, before, Stores::Own);
  return common_address(address);
}

void PrivatePages::close_view(uint64_t address, size_t bytes, Commit after) noexcept {
  if (!has_view_) return;
  merge_around(address, bytes, after, Stores::Others);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  has_view_ = false;
  busy_ = false;
  Busy::done_with(*this);
}

void PrivatePages::set_aside() noexcept {
  const Busy busy(*this);
  while (count_ > 0) {
    aside_[aside_count_++] = pages_[count_ - 1].address;
    share(pages_[count_ - 1].address);
  }
}

void PrivatePages::take_back() noexcept {
  const Busy busy(*this);
  while (aside_count_ > 0) isolate(aside_[--aside_count_]);
}

void PrivatePages::share(uint64_t address) noexcept {
  const Busy busy(*this);  // from here on the thread does not come home
  const uint32_t place = find(address);
  if (place == count_) return;
  const uint64_t page = pages_[place].address;
  const uint32_t slot = pages_[place].slot;
  __atomic_store_n(&merged_, merged_ + merge_page(place, Stores::All), __ATOMIC_RELAXED);
  // Replacing one mapping by another takes no memory, so it cannot fail for lack of it.
  map(page, PROT_READ | PROT_WRITE, MAP_SHARED, common_file, page);
  map_nothing(view_of(slot));
  map_nothing(base_of(slot));
  used_slots_ &= ~(uint64_t{1} << slot);
  pages_[place] = pages_[--count_];
}

void PrivatePages::keep_only(const uint64_t* pages, uint32_t count) noexcept {
  for (uint32_t place = count_; place-- > 0;) {
    const uint64_t page = pages_[place].address;
    uint32_t i = 0;
    while (i < count && pages[i] != page) ++i;
    if (i == count) share(page);  // the last one, already checked, takes its place
  }
  for (uint32_t place = aside_count_; place-- > 0;) {
    uint32_t i = 0;
    while (i < count && pages[i] != aside_[place]) ++i;
    if (i == count) aside_[place] = aside_[--aside_count_];
  }
}

void PrivatePages::leave() noexcept {
  // The access through a view may have faulted, and the view is then not closed.
  if (has_view_) has_view_ = busy_ = false;
  done_ = nullptr;
  commit();
  aside_count_ = 0;
  count_ = 0;
  used_slots_ = 0;
  set(number_, uint64_t{0});
}

void PrivatePages::share_all() noexcept {
  while (count_ > 0) share(pages_[count_ - 1].address);
}

}  // namespace hpcrun
