#pragma once
// A module made of functions that a test wrote byte by byte, with unwind information about where each begins
// and ends, and a page of data.

#include <link.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "repair/isolate/contract/pages.h"

namespace hpcrun::test {

using Code = std::vector<uint8_t>;

class MadeModule {
 public:
  explicit MadeModule(size_t most_functions)
      : unwind_bytes_(page_up(64 + most_functions * 32)),
        code_bytes_(page_up(most_functions * kFunctionBytes)) {
    const size_t bytes = unwind_bytes_ + code_bytes_ + kPageBytes;
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) std::abort();
    base_ = reinterpret_cast<uint64_t>(at);
    memset(reinterpret_cast<void*>(code()), 0xcc, code_bytes_);
  }
  ~MadeModule() { munmap(reinterpret_cast<void*>(base_), unwind_bytes_ + code_bytes_ + kPageBytes); }
  MadeModule(const MadeModule&) = delete;
  MadeModule& operator=(const MadeModule&) = delete;

  uint64_t code() const { return base_ + unwind_bytes_; }
  uint64_t code_end() const { return code() + code_bytes_; }
  uint64_t data() const { return code_end(); }
  uint64_t next_function() const { return code() + functions_.size() * kFunctionBytes; }

  uint64_t add(const Code& function) {
    const uint64_t at = next_function();
    if (function.size() > kFunctionBytes || at >= code_end()) std::abort();
    memcpy(reinterpret_cast<void*>(at), function.data(), function.size());
    functions_.push_back({at, static_cast<uint32_t>(function.size())});
    return at;
  }

  // Must be called after the last function. The code is executable from then on.
  const dl_phdr_info& finish() {
    const uint64_t index = base_, entries = base_ + 16 + functions_.size() * 8;
    uint64_t to = index;
    const auto byte = [&to](auto... bytes) {
      ((*reinterpret_cast<uint8_t*>(to++) = static_cast<uint8_t>(bytes)), ...);
    };
    const auto word = [&to](uint64_t value) {
      const auto narrow = static_cast<uint32_t>(value);
      memcpy(reinterpret_cast<void*>(to), &narrow, sizeof narrow);
      to += sizeof narrow;
    };
    byte(1, 0x1b, 0x03, 0x3b);  // a 32-bit distance, a count, 32-bit offsets from here
    word(entries - to);
    word(functions_.size());
    constexpr uint64_t kCommonBytes = 20, kEntryBytes = 20;
    for (size_t i = 0; i < functions_.size(); ++i) {
      word(functions_[i].at - index);
      word(entries + kCommonBytes + i * kEntryBytes - index);
    }
    to = entries;
    word(kCommonBytes - 4);
    word(0);
    byte(1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0, 0, 0);
    for (const Function& function : functions_) {
      word(kEntryBytes - 4);
      word(to - entries);
      word(function.at - to);
      word(function.bytes);
      byte(0, 0, 0, 0);
    }
    headers_[0].p_type = PT_LOAD;
    headers_[0].p_flags = PF_R | PF_X;
    headers_[0].p_vaddr = code() - base_;
    headers_[0].p_memsz = headers_[0].p_filesz = code_bytes_;
    headers_[1].p_type = PT_GNU_EH_FRAME;
    headers_[1].p_vaddr = 0;
    headers_[1].p_memsz = headers_[1].p_filesz = entries - index;
    headers_[2].p_type = PT_LOAD;
    headers_[2].p_flags = PF_R;
    headers_[2].p_memsz = headers_[2].p_filesz = unwind_bytes_;
    info_.dlpi_addr = base_;
    info_.dlpi_name = "made";
    info_.dlpi_phdr = headers_;
    info_.dlpi_phnum = 3;
    if (mprotect(reinterpret_cast<void*>(code()), code_bytes_, PROT_READ | PROT_EXEC) != 0) std::abort();
    return info_;
  }

 private:
  static constexpr size_t kFunctionBytes = 64;
  struct Function {
    uint64_t at;
    uint32_t bytes;
  };
  size_t unwind_bytes_, code_bytes_;
  uint64_t base_ = 0;
  std::vector<Function> functions_;
  ElfW(Phdr) headers_[3] = {};
  dl_phdr_info info_{};
};

}  // namespace hpcrun::test
