#pragma once
// The ELF file of code that is mapped into an externally sampled process: its addresses, its build id, its
// unwind table. Used by one thread.

#include <libelf.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hpcrun/measurement/format.h"
#include "hpcrun/unwind/table.h"

namespace prof {

class Image {
 public:
  // Reads the file; "[vdso]" is this machine's. If the file cannot be read, the image is empty.
  explicit Image(const std::string& path);

  const std::string& path() const { return path_; }
  const std::vector<uint8_t>& build_id() const { return build_id_; }
  const hpcrun::FileIdentity& file() const { return file_; }
  // True for Go code, which keeps frame pointers in all but the shortest functions. Therefore the kernel's
  // chain is right from the second caller on.
  bool is_go() const { return is_go_; }

  // Returns what to subtract from an address in a mapping of the file to get the file's own address.
  uint64_t load_bias(uint64_t mapped_at, uint64_t file_offset) const;

  const hpcrun::UnwindTable* table() const { return has_table_ ? &table_ : nullptr; }

  // True if this address (the file's own) is in the entry code of a program or of the loader, at which the
  // kernel starts it. It has no caller, and the loader's entry code has no call frame information that says
  // so.
  bool is_entry(uint64_t address) const;

  // True if this address (the file's own) is the one to which the first function of every goroutine returns.
  // No call precedes it, only the `nop` with which runtime.goexit begins; its call of goexit1 follows.
  bool starts_goroutine(uint64_t address) const;

  // True if the instruction before this address (the file's own) is a call.
  bool follows_call(uint64_t address) const;

 private:
  struct Segment {
    uint64_t address, file_offset, bytes;
  };
  struct ElfEnd {
    void operator()(Elf* elf) const { elf_end(elf); }
  };

  // Returns the code around an address (the file's own) if the given number of bytes on each side is in one
  // segment of the file, or nullptr.
  const uint8_t* code_at(uint64_t address, uint64_t before, uint64_t behind) const;
  void open(const std::string& path);
  void read_segments();
  void read_build_id();
  void compile();

  std::string path_;
  std::unique_ptr<Elf, ElfEnd> elf_;
  std::vector<Segment> code_;
  std::vector<uint8_t> build_id_;
  hpcrun::FileIdentity file_;
  bool is_go_ = false;
  bool has_table_ = false;
  hpcrun::UnwindTable table_;  // lives as long as the process
};

}  // namespace prof
