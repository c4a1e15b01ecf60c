#include "repair/isolate/private_pages.h"

#include <sys/mman.h>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/merge.h"

namespace hpcrun {

namespace {

constexpr size_t kRoomBytes = kMaxPrivatePages * kPageBytes;

int common_file = -1;
uint64_t views = 0;  // where twins see common pages that they have for themselves
uint64_t bases = 0;  // what these were when they were seen last

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

bool map(uint64_t address, int protection, int flags, int file, uint64_t offset) noexcept {
  return sys_mmap(at(address), kPageBytes, protection, MAP_FIXED | flags, file,
                  static_cast<int64_t>(offset)) != MAP_FAILED;
}

void map_nothing(uint64_t address) noexcept {
  map(address, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

// The common page, which other processes access at any time.
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

bool reserve_private_pages(int file) noexcept {
  void* const room =
      sys_mmap(nullptr, 2 * kRoomBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  common_file = file;
  views = reinterpret_cast<uint64_t>(room);
  bases = views + kRoomBytes;
  return true;
}

uint32_t PrivatePages::find(uint64_t address) const noexcept {
  uint32_t place = 0;
  while (place < count_ && pages_[place].address != page_of(address)) ++place;
  return place;
}

bool PrivatePages::isolate(uint64_t address) noexcept {
  if (holds(address)) return true;
  if (count_ == kMaxPrivatePages) return false;
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
  pages_[count_++] = {page, slot};
  used_slots_ |= uint64_t{1} << slot;
  return true;
}

uint32_t PrivatePages::merge_page(uint32_t place) noexcept {
  CommonView common{at(view_of(pages_[place].slot))};
  return merge(common, at(pages_[place].address), at(base_of(pages_[place].slot)), kPageBytes);
}

void PrivatePages::commit_pages() noexcept {
  uint64_t words = 0;
  for (uint32_t place = 0; place < count_; ++place) words += merge_page(place);
  __atomic_store_n(&commits_, commits_ + 1, __ATOMIC_RELAXED);
  __atomic_store_n(&merged_, merged_ + words, __ATOMIC_RELAXED);
}

void PrivatePages::share(uint64_t address) noexcept {
  const uint32_t place = find(address);
  if (place == count_) return;
  const uint64_t page = pages_[place].address;
  const uint32_t slot = pages_[place].slot;
  __atomic_store_n(&merged_, merged_ + merge_page(place), __ATOMIC_RELAXED);
  // Replacing one mapping by another takes no memory that a refusal could be about.
  map(page, PROT_READ | PROT_WRITE, MAP_SHARED, common_file, page);
  map_nothing(view_of(slot));
  map_nothing(base_of(slot));
  used_slots_ &= ~(uint64_t{1} << slot);
  pages_[place] = pages_[--count_];
}

void PrivatePages::share_all() noexcept {
  while (count_ > 0) share(pages_[count_ - 1].address);
}

}  // namespace hpcrun
