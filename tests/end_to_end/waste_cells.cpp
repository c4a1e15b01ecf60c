// Prints what a measurement file has on wasted stores and loads, as JSON: bytes in all, wasted, frame_ended
// and undecided, and the pairs. Tests read it to check what the runtime wrote.

#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>

#include "hpcrun/measurement/reader.h"
#include "hpcrun/unwind/frame.h"

using namespace prof;

namespace {

std::string name_of(hpcrun::WasteKind kind) {
  return kind == hpcrun::WasteKind::DeadStore     ? "dead"
         : kind == hpcrun::WasteKind::SilentStore ? "silent"
                                                  : "redundant";
}

const char* field_of(const MeasuredWasteCell& cell) {
  if (cell.flags & hpcrun::kWasteUndecided) return "undecided";
  if (!cell.second_node) return "total";
  return cell.flags & hpcrun::kWasteFrameEnded ? "frame_ended" : "wasted";
}

std::string path_of(const ProcessMeasurement& process, uint32_t thread, uint32_t node) {
  const uint64_t frame = process.threads.at(thread).nodes.at(node).frame;
  return fmt::format("{}+{:x}", hpcrun::frame_module(frame), hpcrun::frame_offset(frame));
}

}  // namespace

int main(int count, char** arguments) {
  nlohmann::json all = nlohmann::json::array();
  for (int i = 1; i < count; ++i) {
    const ProcessMeasurement process = read_measurement(std::filesystem::path(arguments[i]));
    nlohmann::json json{{"pid", process.process.pid}, {"notes", nlohmann::json::array()}};
    json["searched"] = process.counter(hpcrun::Counter::LooksForWaste);
    json["runtime_bytes"] = process.counter(hpcrun::Counter::RuntimeBytes);
    for (const MeasuredNote& note : process.notes) json["notes"].push_back(note.text);
    json["pairs"] = nlohmann::json::array();
    for (const MeasuredThread& thread : process.threads)
      for (const MeasuredWasteCell& cell : thread.waste) {
        nlohmann::json& kind = json[name_of(cell.kind)];
        if (kind.is_null())
          kind = {{"total", 0}, {"wasted", 0}, {"frame_ended", 0}, {"undecided", 0}, {"watches", 0}};
        kind[field_of(cell)] = kind[field_of(cell)].get<uint64_t>() + cell.bytes;
        if (!cell.second_node) kind["watches"] = kind["watches"].get<uint64_t>() + cell.count;
        if (cell.second_node || cell.flags)
          json["pairs"].push_back(
              {{"kind", name_of(cell.kind)},
               {"flags", cell.flags},
               {"first", path_of(process, cell.first_thread, cell.first_node)},
               {"second", cell.second_node ? path_of(process, cell.second_thread, cell.second_node) : ""},
               {"object", cell.object_node},
               {"bytes", cell.bytes}});
      }
    all.push_back(json);
  }
  fmt::print("{}\n", all.dump());
}
