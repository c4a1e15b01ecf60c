#pragma once
// Reads where the functions of a loaded module begin and end from its unwind information (.eh_frame_hdr and
// .eh_frame; LSB 5, Exception Frames). Bytes between functions may be data. Async-signal-safe while the
// module stays loaded.

#include <link.h>

#include <cstdint>

namespace hpcrun {

struct CodeFunction {
  uint64_t low = 0;
  uint64_t high = 0;
};

// The functions of a module in address order. A function that overlaps the next one ends where that begins.
class CodeFunctions {
 public:
  explicit CodeFunctions(const dl_phdr_info& module) noexcept;

  // Returns nullptr, or the reason why they are not known, as a clause; size() is 0 then.
  const char* refusal() const noexcept { return refusal_; }
  uint32_t size() const noexcept { return size_; }
  // Returns an empty function if its entry is not understood.
  CodeFunction operator[](uint32_t number) const noexcept;

 private:
  struct Entry {
    uint64_t low;
    uint64_t record;  // address of its FDE
  };
  Entry entry(uint32_t number) const noexcept;

  const char* refusal_ = nullptr;
  uint64_t header_ = 0;   // .eh_frame_hdr
  uint64_t entries_ = 0;  // in it
  uint32_t size_ = 0;
  uint64_t segment_ = 0;  // which contains both sections
  uint64_t segment_bytes_ = 0;
};

}  // namespace hpcrun
