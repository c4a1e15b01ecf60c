#pragma once
// State that the files of common memory share. For these files alone.

#include <sys/mman.h>

#include <atomic>
#include <cstdint>

#include "hpcrun/guest/own_mappings.h"
#include "hpcrun/guest/spin_lock.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/memory/page_bits.h"

namespace hpcrun {

enum class CommonPhase : uint8_t {
  None,
  Common,
  // After a fork: the file is mapped privately, so dropping pages would restore the file's contents.
  Left,
};

// The file and the address space that is reserved for it: first the tables of pages, then the range that is
// handed out.
struct CommonHold {
  int file = -1;
  uint64_t inode = 0;

  uint64_t low = 0;
  uint64_t reservation_low = 0;
  uint64_t reservation_high = 0;

  // `common`: pages in use that are mapped from the file. `altered`: those with another protection than
  // readable and writable. `taken`: pages of the reservation that are not free, whatever is mapped there.
  PageBits common;
  PageBits altered;
  PageBits taken;
  PageBits closed;   // pages that are never isolated (interface.h)
  PageBits offered;  // the objects in which the program reported allocations (interface.h)

  bool reserves(uint64_t address) const noexcept {
    return address >= reservation_low && address < reservation_high;
  }
  bool is_table(uint64_t address) const noexcept { return address >= low && address < reservation_low; }
};

struct CommonState {
  std::atomic<CommonPhase> phase{CommonPhase::None};
  // In CommonPhase::None: the memory is about to become common, and the hold's table of closed pages is in
  // use.
  std::atomic<bool> is_awaited{false};
  CommonHold hold;
  std::atomic<uint64_t> first_free{0};    // of the reservation: little or nothing is free below it
  std::atomic<uint64_t> dumped_below{0};  // the end of what core dumps contain of it

  // The main stack, which is mapped down to its limit.
  uint64_t stack_low = 0;
  uint64_t stack_high = 0;

  // The number of live CommonCall objects, and whether some lived when the memory was left. What they mapped
  // meanwhile may still be shared.
  std::atomic<uint32_t> calls_under_way{0};
  std::atomic<bool> may_have_missed_some{false};
  // While all mappings are processed one after the other, new calls wait. Otherwise the memory that they map
  // could be mistaken for memory that was there when the list was read.
  std::atomic<bool> is_leaving{false};

  SpinLock maps_lock;  // for readers of /proc/self/maps, with all signals blocked
};

extern CommonState common_state;

// Sleeps. A thread of a higher priority that only yielded would keep the other one from running.
void wait_a_moment() noexcept;

// The number of live CommonCall objects of the calling thread.
extern thread_local constinit uint32_t own_common_calls __attribute__((tls_model("initial-exec")));

// While one lives, its thread has made a decision by the phase or uses the tables of pages. make_common()
// fails if it stops a thread there. The constructor waits for leave_common(), which waits some milliseconds
// for live objects.
class CommonCall {
 public:
  CommonCall() noexcept {
    while (!begins()) wait_a_moment();
    ++own_common_calls;
  }
  ~CommonCall() {
    --own_common_calls;
    common_state.calls_under_way.fetch_sub(1);
  }
  CommonCall(const CommonCall&) = delete;
  CommonCall& operator=(const CommonCall&) = delete;

 private:
  // Does not wait inside another CommonCall, because leave_common() waits for that one.
  static bool begins() noexcept {
    common_state.calls_under_way.fetch_add(1);
    if (own_common_calls || !common_state.is_leaving.load()) return true;
    common_state.calls_under_way.fetch_sub(1);
    return false;
  }
};

// True if `name`, from /proc/self/maps, is that of the file.
bool is_common_file(const char* name) noexcept;

inline int protection_of(const OwnMapping& mapping) noexcept {
  return (mapping.is_readable ? PROT_READ : 0) | (mapping.is_writable ? PROT_WRITE : 0) |
         (mapping.is_executable ? PROT_EXEC : 0);
}

// Maps the file's pages in place of what is mapped there. Returns the kernel's result, negative for an error.
inline long map_file_at(uint64_t low, uint64_t high, int protection, int more_flags = 0) noexcept {
  return raw_syscall(SYS_mmap, static_cast<long>(low), static_cast<long>(high - low), protection,
                     MAP_SHARED | MAP_FIXED | MAP_NORESERVE | more_flags, common_state.hold.file,
                     static_cast<long>(low));
}

// False if the program has closed the file's descriptor, and possibly opened something else by its number.
bool has_common_file() noexcept;

// Gives the file's pages back to the kernel: they read as zeros. Returns false if they are unchanged.
bool empty_file_pages(uint64_t low, uint64_t high) noexcept;

// Records that the pages are in use from now on, mapped with that protection.
inline void note_common(uint64_t low, uint64_t high, int protection) noexcept {
  CommonHold& hold = common_state.hold;
  if (protection == (PROT_READ | PROT_WRITE))
    hold.altered.clear(low, high);
  else
    hold.altered.set(low, high);
  hold.common.set(low, high);
}

}  // namespace hpcrun
