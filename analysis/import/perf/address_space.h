#pragma once
// What is mapped where in a process, as its records tell.

#include <cstdint>
#include <map>
#include <memory>

namespace prof::perf {

struct MappedPart {
  uint64_t last = 0;         // address of the last byte
  uint64_t file_offset = 0;  // of the first
  uint32_t file = 0;         // a number that the user of this gives
};

class AddressSpace {
 public:
  // Replaces what is mapped there.
  void map(uint64_t start, uint64_t bytes, uint64_t file_offset, uint32_t file);

  struct Found {
    uint32_t file;
    uint64_t file_offset;  // of the address
  };
  // False where nothing is mapped.
  bool find(uint64_t address, Found& found) const;

  const std::map<uint64_t, MappedPart>& parts() const { return *parts_; }  // by start
  // Changes whenever something that was mapped is no longer.
  uint64_t replaced() const { return replaced_; }

 private:
  // Processes that were forked share their parent's until either changes it.
  std::shared_ptr<std::map<uint64_t, MappedPart>> parts_ = std::make_shared<std::map<uint64_t, MappedPart>>();
  uint64_t replaced_ = 0;
};

}  // namespace prof::perf
