#include "analysis/views/tree/call_path.h"

#include <fmt/format.h>

#include "analysis/stalls/barriers.h"
#include "analysis/words/numbers.h"

namespace prof {
namespace {

bool is_of_c_library(const CodeFrame& frame) {
  return base_name(frame.module).starts_with("libc.so");
}

}  // namespace

CodeFrame code_frame(const CallTree& tree, uint32_t frame, const SourceLocation& location) {
  const Database& database = *tree.database;
  CodeFrame result;
  result.function = frame_name(database, tree.frames[frame]);
  if (location.file < database.files.size()) {
    result.file = database.files[location.file].path;
    result.line = result.file.empty() ? 0 : location.line;
  }
  if (const uint32_t module = tree.frames[frame].module; module < database.modules.size())
    result.module = database.modules[module].path;
  return result;
}

std::vector<CodeFrame> frames_of(const CallTree& tree, uint32_t context) {
  const Database& database = *tree.database;
  std::vector<CodeFrame> frames;
  SourceLocation location;
  for (uint32_t at = context; at != kNone; at = database.contexts[at].parent) {
    if (!location.known()) location = location_of(database.contexts[at]);
    if (!starts_frame(database.contexts[at])) continue;
    const Frame& frame = tree.frames[tree.nodes[tree.node_of[at]].frame];
    if (frame.kind == FrameKind::Entry) break;
    if (!location.known()) location = definition(frame);
    frames.push_back(code_frame(tree, tree.nodes[tree.node_of[at]].frame, location));
    location = {};
  }
  return frames;
}

std::string public_name_of(const CodeFrame& frame) {
  return is_of_c_library(frame) ? public_name(frame.function) : frame.function;
}

std::string format_frame(const CodeFrame& frame) {
  // Skips lines of the C library, which do not help the reader.
  if (frame.file.empty() || frame.line == 0 || is_of_c_library(frame)) return public_name_of(frame);
  return fmt::format("{} ({}:{})", public_name_of(frame), base_name(frame.file), frame.line);
}

const CodeFrame* telling_caller(const std::vector<CodeFrame>& frames) {
  const CodeFrame* nearest = frames.size() > 1 ? &frames[1] : nullptr;
  for (size_t i = 1; i < frames.size(); ++i)
    if (!frames[i].file.empty() && frames[i].line > 0 && !is_of_c_library(frames[i])) return &frames[i];
  return nearest;
}

std::string format_call(const std::vector<CodeFrame>& frames) {
  if (frames.empty()) return "?";
  const CodeFrame* caller = telling_caller(frames);
  return format_frame(frames.front()) + (caller ? " <- " + format_frame(*caller) : "");
}

}  // namespace prof
