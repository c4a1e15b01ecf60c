#pragma once
// Reads consecutive numbers and texts from untrusted bytes.

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace prof::perf {

class Cursor {
 public:
  explicit Cursor(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  // Returns zero if too few bytes are left, and from then on.
  template <typename T>
  T take() {
    T value{};
    if (const std::span<const uint8_t> bytes = take_bytes(sizeof value); bytes.size() == sizeof value)
      std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::span<const uint8_t> take_bytes(uint64_t count) {
    if (count > bytes_.size()) {
      good_ = false;
      bytes_ = {};
      return {};
    }
    const auto taken = bytes_.first(static_cast<size_t>(count));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }
  void skip(uint64_t count) { take_bytes(count); }
  // Returns the text up to a NUL, or to the end.
  std::string_view take_text() { return text_in(bytes_); }

  static std::string_view text_in(std::span<const uint8_t> bytes) {
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return all.substr(0, all.find('\0'));
  }

  bool good() const { return good_; }
  size_t left() const { return bytes_.size(); }
  std::span<const uint8_t> rest() const { return bytes_; }

 private:
  std::span<const uint8_t> bytes_;
  bool good_ = true;
};

}  // namespace prof::perf
