#include "prof/ranks/node_clock.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "analysis/files/folder.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

// True for the first rank that creates the file.
bool create(const fs::path& file) try {
  return Folder(file.parent_path()).write_new(file.filename().string(), "");
} catch (const WriteError&) {
  return false;
}

nlohmann::ordered_json to_json(const ClockDifference& difference) {
  return {{"offset_ns", difference.offset_ns},
          {"error_ns", difference.error_ns},
          {"realtime_ns", difference.realtime_ns},
          {"monotonic_ns", difference.monotonic_ns}};
}

}  // namespace

NodeClock::NodeClock(fs::path directory, ClockAddress first) : first_(std::move(first)) {
  const std::string host = host_name();
  const fs::path file = directory / ("clock-" + host + ".json");
  if (first_.port == 0 || host == first_.host || !create(file)) return;
  const std::optional<ClockDifference> difference = clock_difference(first_);
  if (!difference) {
    remove_own(file);
    return;
  }
  file_ = file;
  begin_ = *difference;
  first_.addresses = {begin_.address};
  write(std::nullopt);
}

void NodeClock::compare_again() const {
  if (file_.empty()) return;
  if (const std::optional<ClockDifference> end = clock_difference(first_)) write(end);
}

void NodeClock::write(const std::optional<ClockDifference>& end) const {
  nlohmann::ordered_json record = {
      {"host", host_name()}, {"reference", first_.host}, {"begin", to_json(begin_)}};
  if (end) record["end"] = to_json(*end);
  try {
    write_own_file(file_, record.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } catch (const WriteError&) {
    return;  // the times of this node are then aligned less exactly
  }
}

}  // namespace prof
