#pragma once
// From offsets in program and library files, which other tools record, to the addresses that the files state.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace prof {

class Segments {
 public:
  // Of the file at `path`, which is opened once. The offset itself where there is no such file, or nothing at
  // that offset is loaded.
  uint64_t address_of(const std::string& path, uint64_t offset);

  // The first address that the file states, and the one behind its last; equal where there is no such file.
  struct Extent {
    uint64_t begin = 0, end = 0;
  };
  Extent extent(const std::string& path);

 private:
  struct Segment {
    uint64_t offset, bytes, address;
    uint64_t end;  // address behind the last byte, those included that the file does not have
    bool code;
  };
  const std::vector<Segment>& segments_of(const std::string& path);
  static std::vector<Segment> read(const std::string& path);

  std::map<std::string, std::vector<Segment>> files_;
};

}  // namespace prof
