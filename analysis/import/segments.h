#pragma once
// Converts offsets in program and library files, as other tools record them, to addresses as in the files.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace prof {

class Segments {
 public:
  // Returns the address of an offset in the file at `path`, which is opened once. Returns the offset itself
  // if there is no such file or nothing is loaded from that offset.
  uint64_t address_of(const std::string& path, uint64_t offset);

  // The first address that the file states, and the end of its last; equal if there is no such file.
  struct Extent {
    uint64_t begin = 0, end = 0;
  };
  Extent extent(const std::string& path);

 private:
  struct Segment {
    uint64_t offset, bytes, address;
    uint64_t end;  // address past the last byte, including those that are not in the file
    bool code;
  };
  const std::vector<Segment>& segments_of(const std::string& path);
  static std::vector<Segment> read(const std::string& path);

  std::map<std::string, std::vector<Segment>> files_;
};

}  // namespace prof
