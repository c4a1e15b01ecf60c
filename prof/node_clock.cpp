#include "prof/node_clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace prof {

namespace fs = std::filesystem;

namespace {

// True for the first of those that ask.
bool create(const fs::path& file) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return false;
  close(descriptor);
  return true;
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
  std::error_code ignored;
  if (!difference) {
    fs::remove(file, ignored);
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
  const fs::path unfinished = file_.string() + ".writing";
  std::ofstream out(unfinished);
  out << record.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  out.close();
  std::error_code ignored;
  if (out) fs::rename(unfinished, file_, ignored);
}

}  // namespace prof
