#pragma once
// A program or library of the system, mapped as the loader does, but neither relocated nor run.

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "repair/isolate/contract/pages.h"

namespace hpcrun::test {

class MappedModule {
 public:
  // info() is null if the file is not a module, or its address is in use.
  explicit MappedModule(const std::string& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    ElfW(Ehdr) header;
    if (file_ < 0 || pread(file_, &header, sizeof header, 0) != sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != EM_X86_64 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || (header.e_type != ET_DYN && header.e_type != ET_EXEC))
      return;
    headers_.resize(header.e_phnum);
    const auto bytes = static_cast<ssize_t>(headers_.size() * sizeof(ElfW(Phdr)));
    if (pread(file_, headers_.data(), static_cast<size_t>(bytes), static_cast<off_t>(header.e_phoff)) !=
        bytes)
      return;
    if (!map(header.e_type == ET_EXEC)) return;
    info_.dlpi_addr = bias_;
    info_.dlpi_name = "";
    info_.dlpi_phdr = headers_.data();
    info_.dlpi_phnum = static_cast<ElfW(Half)>(headers_.size());
    is_mapped_ = true;
  }
  ~MappedModule() {
    if (file_ >= 0) close(file_);
  }
  MappedModule(const MappedModule&) = delete;
  MappedModule& operator=(const MappedModule&) = delete;

  const dl_phdr_info* info() const { return is_mapped_ ? &info_ : nullptr; }

 private:
  bool map(bool is_fixed) {
    uint64_t low = ~uint64_t{0}, high = 0;
    for (const auto& segment : headers_) {
      if (segment.p_type != PT_LOAD) continue;
      low = std::min<uint64_t>(low, page_down(segment.p_vaddr));
      high = std::max<uint64_t>(high, page_up(segment.p_vaddr + segment.p_memsz));
    }
    if (low >= high) return false;
    void* const wanted = is_fixed ? reinterpret_cast<void*>(low) : nullptr;
    void* const at =
        mmap(wanted, high - low, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (is_fixed ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    if (at == MAP_FAILED) return false;
    bias_ = reinterpret_cast<uint64_t>(at) - low;
    for (const auto& segment : headers_) {
      if (segment.p_type != PT_LOAD || segment.p_filesz == 0) continue;
      const uint64_t begin = page_down(segment.p_vaddr);
      if (mmap(reinterpret_cast<void*>(bias_ + begin), segment.p_vaddr + segment.p_filesz - begin, PROT_READ,
               MAP_PRIVATE | MAP_FIXED, file_, static_cast<off_t>(page_down(segment.p_offset))) == MAP_FAILED)
        return false;
    }
    return true;
  }

  int file_;
  std::vector<ElfW(Phdr)> headers_;
  dl_phdr_info info_{};
  uint64_t bias_ = 0;
  bool is_mapped_ = false;
};

}  // namespace hpcrun::test
