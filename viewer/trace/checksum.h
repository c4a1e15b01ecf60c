#pragma once
// Detects accidental changes of bytes. It does not protect against deliberate ones.

#include <cstdint>
#include <cstring>

namespace prof::viewer {

class Checksum {
 public:
  void add(uint64_t number) {
    value_ = (value_ ^ number) * 0x9E3779B97F4A7C15u;
    value_ ^= value_ >> 32;
  }
  // Processes whole words; a rest of less than eight bytes is padded with zeros.
  void add(const char* data, uint64_t bytes) {
    for (; bytes >= sizeof(uint64_t); data += sizeof(uint64_t), bytes -= sizeof(uint64_t)) {
      uint64_t word;
      std::memcpy(&word, data, sizeof word);
      add(word);
    }
    uint64_t rest = 0;
    std::memcpy(&rest, data, bytes);
    add(rest ^ bytes << 56);
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0x2545F4914F6CDD1Du;
};

}  // namespace prof::viewer
