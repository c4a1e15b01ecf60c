#include "prof/ranks/launch_record.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>

#include "analysis/files/folder.h"
#include "hpcrun/measurement/regular_file.h"
#include "prof/base/message.h"

namespace prof {

namespace fs = std::filesystem;
using std::chrono::duration_cast;
using std::chrono::nanoseconds;
using std::chrono::system_clock;

std::optional<LaunchRecord> launch_record(const fs::path& directory) {
  const auto json =
      nlohmann::json::parse(read_regular_file(directory / kLaunchFile).value_or(""), nullptr, false);
  if (!json.is_object() || !json.contains("launch") || !json.contains("size")) return std::nullopt;
  LaunchRecord record;
  try {
    record.launch = json.at("launch");
    record.size = json.at("size");
    record.ranks = json.value("ranks", "");
    record.all_ranks = json.value("all_ranks", true);
    record.token = json.value("token", uint64_t{0});
    record.host = json.value("host", "");
    record.pid = json.value("pid", 0);
    record.written = system_clock::time_point(
        duration_cast<system_clock::duration>(nanoseconds(json.value("written_ns", int64_t{0}))));
    if (const auto clock = json.find("clock"); clock != json.end())
      record.clock = {clock->at("host"), clock->at("addresses"), clock->at("port"), clock->at("token")};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  return record;
}

bool create_launch_record(const fs::path& directory, LaunchRecord record) {
  const int64_t now = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  nlohmann::ordered_json json = {{"launch", record.launch}, {"size", record.size},
                                 {"ranks", record.ranks},   {"all_ranks", record.all_ranks},
                                 {"token", record.token},   {"host", host_name()},
                                 {"pid", getpid()},         {"written_ns", now}};
  if (record.clock.port != 0)
    json["clock"] = {{"host", record.clock.host},
                     {"addresses", record.clock.addresses},
                     {"port", record.clock.port},
                     {"token", record.clock.token}};
  const std::string text = json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  // A rank that reads the file before it is complete does not recognize it, and tries again.
  try {
    return Folder(directory).write_new(kLaunchFile, text);
  } catch (const WriteError& error) {
    fail(kOwnFailure, "cannot write {}, for which the other ranks wait: {}; choose another directory with -o",
         (directory / kLaunchFile).string(), error.code().message());
  }
}

bool is_abandoned(const LaunchRecord& record) {
  return record.pid > 0 && record.host == host_name() && kill(record.pid, 0) != 0 && errno == ESRCH;
}

void refuse_launch_of_others(const fs::path& directory, const LaunchRecord& others) {
  fail(kOwnFailure,
       "{} is in use by another launch ({}, {} ranks), which still runs or was killed; choose another "
       "directory with -o, or add --force if it no longer runs",
       directory.string(), others.launch, others.size);
}

}  // namespace prof
