#pragma once
// What the files of common memory know together. For them alone.

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
  // After a fork: the file is mapped privately, so that dropping pages would bring back what it has.
  Left,
};

// The file, and the address space that is set aside for it: tables of pages, then what is handed out.
struct CommonHold {
  int file = -1;
  uint64_t inode = 0;

  uint64_t low = 0;
  uint64_t reservation_low = 0;
  uint64_t reservation_high = 0;

  // Pages in use that are mapped from the file; those that are mapped otherwise than readable, writable and
  // nothing else; and pages of the reservation that are not free, whatever is mapped there.
  PageBits common;
  PageBits altered;
  PageBits taken;
  PageBits closed;   // what is never isolated (interface.h)
  PageBits offered;  // where the program allocated, as it is told (interface.h)

  bool reserves(uint64_t address) const noexcept {
    return address >= reservation_low && address < reservation_high;
  }
  bool is_table(uint64_t address) const noexcept { return address >= low && address < reservation_low; }
};

struct CommonState {
  std::atomic<CommonPhase> phase{CommonPhase::None};
  // In CommonPhase::None: it will not stay so, and the hold's table of closed pages is in use.
  std::atomic<bool> is_awaited{false};
  CommonHold hold;
  std::atomic<uint64_t> first_free{0};    // of the reservation: below it is nothing free, or little
  std::atomic<uint64_t> dumped_below{0};  // what core dumps have of it

  // The main stack, which is mapped down to its limit.
  uint64_t stack_low = 0;
  uint64_t stack_high = 0;

  // CommonCall objects that live, and whether some did when the memory was left: what they mapped meanwhile
  // may be shared still.
  std::atomic<uint32_t> calls_under_way{0};
  std::atomic<bool> may_have_missed_some{false};
  // While all mappings are gone through one after the other calls wait: what they map could be taken for what
  // was there as the list was read.
  std::atomic<bool> is_leaving{false};

  SpinLock maps_lock;  // who reads /proc/self/maps, with all signals blocked
};

extern CommonState common_state;

// Asleep: a yielding thread of a higher priority would keep the other one from going on.
void wait_a_moment() noexcept;

// CommonCall objects of the calling thread that live.
extern thread_local constinit uint32_t own_common_calls __attribute__((tls_model("initial-exec")));

// While one lives, its thread has decided by the phase, or uses the tables of pages: where it is stopped the
// memory does not become common (make_common). Begins behind leave_common(), which waits for some
// milliseconds for those that live.
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
  // Within another one it does not wait: that one is waited for.
  static bool begins() noexcept {
    common_state.calls_under_way.fetch_add(1);
    if (own_common_calls || !common_state.is_leaving.load()) return true;
    common_state.calls_under_way.fetch_sub(1);
    return false;
  }
};

// By its name in /proc/self/maps.
bool is_common_file(const char* name) noexcept;

inline int protection_of(const OwnMapping& mapping) noexcept {
  return (mapping.is_readable ? PROT_READ : 0) | (mapping.is_writable ? PROT_WRITE : 0) |
         (mapping.is_executable ? PROT_EXEC : 0);
}

// The file's pages in the place of what is mapped there; the kernel's answer, negative for an error.
inline long map_file_at(uint64_t low, uint64_t high, int protection, int more_flags = 0) noexcept {
  return raw_syscall(SYS_mmap, static_cast<long>(low), static_cast<long>(high - low), protection,
                     MAP_SHARED | MAP_FIXED | MAP_NORESERVE | more_flags, common_state.hold.file,
                     static_cast<long>(low));
}

// The program may have closed its number, and have something else there.
bool has_common_file() noexcept;

// Gives the file's pages back to the kernel: they read as zeros. False: they are what they were.
bool empty_file_pages(uint64_t low, uint64_t high) noexcept;

// The pages are in use from now on, mapped with that protection.
inline void note_common(uint64_t low, uint64_t high, int protection) noexcept {
  CommonHold& hold = common_state.hold;
  if (protection == (PROT_READ | PROT_WRITE))
    hold.altered.clear(low, high);
  else
    hold.altered.set(low, high);
  hold.common.set(low, high);
}

}  // namespace hpcrun
