#pragma once
// The ELF file of code that is mapped into a process that is sampled from outside: where its addresses are,
// its build id, its unwind table. Used by one thread.

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
  // "[vdso]" is this machine's. A file that cannot be read makes an image without anything.
  explicit Image(const std::string& path);

  const std::string& path() const { return path_; }
  const std::vector<uint8_t>& build_id() const { return build_id_; }
  const hpcrun::FileIdentity& file() const { return file_; }
  // Go code keeps frame pointers in all but the shortest functions, so that the kernel's chain is right from
  // the second caller on.
  bool is_go() const { return is_go_; }

  // What to subtract from an address in a mapping of the file to get the file's own address.
  uint64_t load_bias(uint64_t mapped_at, uint64_t file_offset) const;

  const hpcrun::UnwindTable* table() const { return has_table_ ? &table_ : nullptr; }

  // Is this address (the file's own) in the code that the kernel enters, of a program or of the loader?
  // Nothing called it, and the loader's has no call frame information that would tell.
  bool is_entry(uint64_t address) const;

  // Is this address (the file's own) the one to which the first function of every goroutine returns? No call
  // is before it, but the `nop` with which runtime.goexit begins; its call of goexit1 is behind it.
  bool starts_goroutine(uint64_t address) const;

  // Is the instruction before this address (the file's own) a call?
  bool follows_call(uint64_t address) const;

 private:
  struct Segment {
    uint64_t address, file_offset, bytes;
  };
  struct ElfEnd {
    void operator()(Elf* elf) const { elf_end(elf); }
  };

  // The code around an address (the file's own), of which the given number of bytes on each side is in one
  // segment of the file; nullptr where there is none.
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
