#pragma once
// Buffered output of a report. Handles short writes, and numbers that JSON cannot represent.

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "prof/base/message.h"

namespace prof {

class Output {
 public:
  explicit Output(std::FILE* file) : file_(file) {}
  ~Output() { flush(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text) {
    buffer_.append(text.data(), text.data() + text.size());
    if (buffer_.size() >= kChunkBytes) flush();
  }
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    if (buffer_.size() >= kChunkBytes) flush();
  }

  // Returns false once any output could not be written.
  bool flush();

 private:
  static constexpr size_t kChunkBytes =
      1 << 18;  // so that a report of a million rows is never in memory as a whole

  std::FILE* file_;
  fmt::memory_buffer buffer_;
  bool good_ = true;
};

// Writes a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
void write_json_string(Output& out, std::string_view text);
// The same for a script in an HTML page: escapes anything that could end the script.
void write_script_string(Output& out, std::string_view text);
// Writes a JSON number; 0 if the value is not finite.
void write_json_number(Output& out, double value);

// Returns a CSV field, quoted if necessary (RFC 4180).
std::string csv_field(std::string_view text);

}  // namespace prof
