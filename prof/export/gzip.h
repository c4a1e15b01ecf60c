#pragma once
// A compressed stream on top of an Output.

#include <zlib.h>

#include <string_view>
#include <vector>

#include "prof/report/output.h"

namespace prof {

// A comment in the header of every stream, by which prof recognizes its own files.
constexpr char kGzipMark[] = "prof export";
constexpr size_t kGzipMarkAt = 10;  // bytes from the start of the stream

class GzipOutput {
 public:
  explicit GzipOutput(Output& out);
  ~GzipOutput();
  GzipOutput(const GzipOutput&) = delete;
  GzipOutput& operator=(const GzipOutput&) = delete;

  void write(std::string_view bytes) { deflate(bytes, Z_NO_FLUSH); }
  // Ends the stream. Nothing may be written after it.
  void finish() { deflate({}, Z_FINISH); }

 private:
  void deflate(std::string_view bytes, int flush);

  Output& out_;
  z_stream stream_{};
  gz_header header_{};
  std::vector<char> chunk_;
};

}  // namespace prof
