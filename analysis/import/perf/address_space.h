#pragma once
// The mappings of a process, as recorded.

#include <cstdint>
#include <map>
#include <memory>

namespace prof::perf {

struct MappedPart {
  uint64_t last = 0;         // address of the last byte
  uint64_t file_offset = 0;  // of the first byte
  uint32_t file = 0;         // a number that the caller assigns
};

class AddressSpace {
 public:
  // Replaces existing mappings in the range.
  void map(uint64_t start, uint64_t bytes, uint64_t file_offset, uint32_t file);

  struct Found {
    uint32_t file;
    uint64_t file_offset;  // of the address
  };
  // Returns false if nothing is mapped there.
  bool find(uint64_t address, Found& found) const;

  const std::map<uint64_t, MappedPart>& parts() const { return *parts_; }  // by start
  // Changes when existing mappings are replaced.
  uint64_t replaced() const { return replaced_; }

 private:
  // Forked processes share the parent's map until either changes it.
  std::shared_ptr<std::map<uint64_t, MappedPart>> parts_ = std::make_shared<std::map<uint64_t, MappedPart>>();
  uint64_t replaced_ = 0;
};

}  // namespace prof::perf
