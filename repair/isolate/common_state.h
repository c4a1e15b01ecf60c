#pragma once
// What the files of common memory know together. For them alone.

#include <sys/mman.h>

#include <atomic>
#include <cstdint>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/page_bits.h"

namespace hpcrun {

enum class CommonPhase : uint8_t {
  None,
  Common,
  // After a fork: the file is mapped privately, so that what it has is what was there before, and dropping
  // pages brings that back.
  Left,
};

// A stretch of common memory and its second mapping.
struct CommonStretch {
  uint64_t low = 0;
  uint64_t high = 0;
  uint64_t view = 0;
};

struct CommonState {
  std::atomic<CommonPhase> phase{CommonPhase::None};
  int file = -1;
  uint64_t inode = 0;

  // Pages that are mapped from the file, those of them that are mapped otherwise than readable, writable and
  // nothing else, and pages of the reservation that are in use, whatever is mapped there.
  PageBits common;
  PageBits altered;
  PageBits taken;

  // Three times PageBits, then what is handed out.
  uint64_t hold_low = 0;
  uint64_t reservation_low = 0;
  uint64_t reservation_high = 0;
  std::atomic<uint64_t> first_free{0};    // no page of the reservation below it is free, or few are
  std::atomic<uint64_t> dumped_below{0};  // what core dumps have of the reservation

  // Stretches are added and never change; the first is the reservation's.
  static constexpr uint32_t kMaxStretches = 2048;
  CommonStretch stretches[kMaxStretches];
  std::atomic<uint32_t> stretch_count{0};

  bool is_in_reservation(uint64_t address) const noexcept {
    return address >= reservation_low && address < reservation_high;
  }
};

extern CommonState common_state;

// By its name in /proc/self/maps.
bool is_common_file(const char* name) noexcept;

// The file's pages in the place of what is mapped there; the kernel's answer, negative for an error.
inline long map_file_at(uint64_t low, uint64_t high, int protection, int more_flags = 0) noexcept {
  return raw_syscall(SYS_mmap, static_cast<long>(low), static_cast<long>(high - low), protection,
                     MAP_SHARED | MAP_FIXED | MAP_NORESERVE | more_flags, common_state.file,
                     static_cast<long>(low));
}

// Its pages of [low, high) at any address, or 0.
inline uint64_t map_view(uint64_t low, uint64_t high) noexcept {
  void* const at = sys_mmap(nullptr, high - low, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                            common_state.file, static_cast<int64_t>(low));
  if (at == MAP_FAILED) return 0;
  sys_madvise(at, high - low, MADV_DONTDUMP);
  return reinterpret_cast<uint64_t>(at);
}

// Gives the pages back to the kernel: they read as zeros.
void empty_file_pages(uint64_t low, uint64_t high) noexcept;

}  // namespace hpcrun
