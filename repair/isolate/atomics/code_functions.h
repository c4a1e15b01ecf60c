#pragma once
// Where the functions of a loaded module begin and end, as its unwind information says (.eh_frame_hdr and
// .eh_frame; LSB 5, Exception Frames): what lies between them may be data. Async-signal-safe while the module
// stays loaded.

#include <link.h>

#include <cstdint>

namespace hpcrun {

struct CodeFunction {
  uint64_t low = 0;
  uint64_t high = 0;
};

// A module's functions in the order of addresses; those that overlap end where the next begins.
class CodeFunctions {
 public:
  explicit CodeFunctions(const dl_phdr_info& module) noexcept;

  // nullptr, or why they are not known, as a clause; size() is 0 then.
  const char* why_not() const noexcept { return why_not_; }
  uint32_t size() const noexcept { return size_; }
  // An empty one where its entry is not understood.
  CodeFunction operator[](uint32_t number) const noexcept;

 private:
  uint64_t low_of(uint32_t number) const noexcept;

  const char* why_not_ = nullptr;
  uint64_t header_ = 0;
  uint64_t table_ = 0;
  uint32_t size_ = 0;
};

}  // namespace hpcrun
