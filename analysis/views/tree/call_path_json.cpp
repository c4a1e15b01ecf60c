#include "analysis/views/tree/call_path_json.h"

namespace prof {
namespace {

using Json = nlohmann::ordered_json;

Json frame_as_json(const CodeFrame& frame) {
  Json json{{"function", frame.function}};
  if (!frame.file.empty()) json["file"] = frame.file;
  if (frame.line > 0) json["line"] = frame.line;
  if (!frame.module.empty()) json["module"] = frame.module;
  return json;
}

}  // namespace

Json frames_as_json(const std::vector<CodeFrame>& frames) {
  Json json = Json::array();
  for (const CodeFrame& frame : frames) json.push_back(frame_as_json(frame));
  return json;
}

}  // namespace prof
