#include "analysis/views/tree/format_code.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/views/tree/program_lines.h"
#include "analysis/words/numbers.h"

namespace prof {
namespace {

// Omits the parameters.
std::string short_name(const std::string& function) {
  const size_t parameters = function.find('(', function.starts_with('(') ? 1 : 0);
  return function.substr(0, parameters);
}

// True for sources of system headers, or of the libraries that come with Rust and Go.
bool is_of_library(std::string_view file) {
  return file.starts_with("/usr/include/") || file.starts_with("/usr/lib/") || file.starts_with("/rustc/") ||
         file.find("/lib/rustlib/src/rust/library/") != file.npos || file.starts_with("/usr/local/go/src/") ||
         file.starts_with("/usr/lib/go");
}

}  // namespace

const CodeFrame& telling_frame(const std::vector<CodeFrame>& frames) {
  const auto is_own = [](const CodeFrame& frame) {
    return frame.line > 0 && !frame.file.empty() && !is_of_library(frame.file);
  };
  const auto own = std::ranges::find_if(frames, is_own);
  return own == frames.end() ? frames.front() : *own;
}

bool is_of_system(const CodeFrame& frame) {
  return is_system_path(frame.module);
}

std::vector<CodeFrame> program_part(std::vector<CodeFrame> frames) {
  const auto own = std::ranges::find_if_not(frames, is_of_system);
  if (own != frames.end()) frames.erase(frames.begin(), own);
  return frames;
}

std::string format_code(const std::vector<CodeFrame>& frames) {
  if (frames.empty()) return "unknown code";
  const CodeFrame& frame = telling_frame(frames);
  if (frame.file.empty() || frame.line == 0) return short_name(frame.function);
  return fmt::format("{} ({}:{})", short_name(frame.function), base_name(frame.file), frame.line);
}

std::string format_function(const std::vector<CodeFrame>& frames) {
  return frames.empty() ? "unknown code" : short_name(telling_frame(frames).function);
}

}  // namespace prof
