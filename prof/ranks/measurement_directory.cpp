#include "prof/ranks/measurement_directory.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/database/database.h"
#include "analysis/files/folder.h"
#include "analysis/pipeline/run_record.h"
#include "analysis/pipeline/stored_files.h"
#include "analysis/repair/repair_file.h"
#include "hpcrun/measurement/checksum.h"
#include "hpcrun/measurement/container_format.h"
#include "hpcrun/measurement/format.h"
#include "hpcrun/measurement/pause.h"
#include "hpcrun/measurement/regular_file.h"
#include "hpcrun/measurement/repair_plan.h"
#include "hpcrun/sample/config.h"
#include "prof/base/message.h"
#include "prof/launch/measured_process.h"
#include "prof/ranks/directory_name.h"
#include "prof/ranks/launch_record.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

// True if write_run_record() wrote the file.
bool is_run_record(const fs::path& file) {
  const auto record = nlohmann::json::parse(read_regular_file(file).value_or(""), nullptr, false);
  return record.is_object() && record.contains("command") && record.contains("trigger_cost_s");
}

bool is_repair_file(const fs::path& file) {
  const auto json = nlohmann::json::parse(read_regular_file(file).value_or(""), nullptr, false);
  return json.is_object() && json.value("schema", "") == kRepairSchema;
}

// Refuses files of other programs with names that a run needs: they would be overwritten.
void refuse_files_of_others(const fs::path& directory) {
  std::error_code error;
  const fs::path record = directory / "run.json";
  if (fs::exists(record, error) && !is_run_record(record))
    fail(kOwnFailure, "{} was not written by prof; choose another directory with -o", record.string());
  for (const StoredFile& of_rank : rank_records(directory))
    if (!of_rank.is_member() && !is_run_record(of_rank.path))
      fail(kOwnFailure, "{} was not written by prof; choose another directory with -o",
           of_rank.path.string());
  const fs::path launch = directory / kLaunchFile;
  if (fs::exists(launch, error) && !launch_record(directory))
    fail(kOwnFailure, "{} was not written by prof; choose another directory with -o", launch.string());
  const fs::path repairs = directory / kRepairFile;
  if (fs::exists(repairs, error) && !is_repair_file(repairs))
    fail(kOwnFailure, "{} was not written by prof; choose another directory with -o", repairs.string());
  require_place_for_database(directory / "database");
}

// Its name is a build id, followed by that of a process until the table is complete.
bool is_shared_table(const fs::path& file) {
  std::error_code error;
  return file.filename().string().find_first_not_of("0123456789abcdef.") == std::string::npos &&
         fs::is_regular_file(file, error);
}

// True for names as hpcrun::kSavedFileFormat, also with the number of a process, as long as the file is
// incomplete.
bool is_saved_file(std::string_view name) {
  constexpr std::string_view kBefore = "saved-", kBehind = ".elf";
  if (!name.starts_with(kBefore)) return false;
  name.remove_prefix(kBefore.size());
  const size_t end = name.find_first_not_of("0123456789abcdef-");
  if (end == name.npos || !name.substr(end).starts_with(kBehind)) return false;
  const std::string_view rest = name.substr(end + kBehind.size());
  return rest.find_first_not_of(".0123456789") == rest.npos;
}

// Removes only what a run left, never a file that a user put there.
void empty_of_measurements(const fs::path& directory) {
  std::vector<StoredFile> files = rank_records(directory);
  std::ranges::move(clock_files(directory), std::back_inserter(files));
  std::ranges::copy_if(stored_files(directory).files, std::back_inserter(files), is_measurement);
  const Folder folder(directory);
  const auto remove = [&](const std::string& name) {
    if (!folder.remove(name))
      fail(kOwnFailure, "cannot remove {}: {}; choose another directory with -o", (directory / name).string(),
           std::strerror(errno));
  };
  for (const StoredFile& file : files)
    if (!file.is_member()) remove(file.path.filename().string());
  for (const fs::path& container : containers_in(directory)) remove(container.filename().string());
  for (const std::string& name : folder.names())
    if (is_saved_file(name)) remove(name);
  for (const std::string& name : {std::string("run.json"), std::string(kLaunchFile), std::string(kRepairFile),
                                  std::string(hpcrun::kRepairPlanFile), std::string(hpcrun::kPausedMarker),
                                  std::string(kAttachedMarker)})
    remove(name);
  remove_shared_tables(directory);
  invalidate_database(directory / "database");
}

}  // namespace

fs::path measurement_directory_path(const std::string& asked, const std::string& program) {
  const RunIdentity run = identity_of_this_run();
  std::error_code error;
  return fs::absolute(
      asked.empty() ? default_directory_name(program, run) : expand_directory_name(asked, run), error);
}

fs::path create_measurement_directory(const std::string& asked, const std::string& program, bool force) {
  const fs::path directory = measurement_directory_path(asked, program);
  try {
    Folder::make(directory);
  } catch (const WriteError& error) {
    if (error.code() == std::errc::operation_not_permitted) throw;  // belongs to another user
    fail(kOwnFailure, "cannot create the measurement directory {}: {}; choose another directory with -o",
         directory.string(), error.code().message());
  }
  if (faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    fail(kOwnFailure, "cannot write to {}: {}; choose another directory with -o", directory.string(),
         std::strerror(errno));
  refuse_files_of_others(directory);
  if (is_taken(directory)) {
    if (!force)
      fail(kOwnFailure,
           "{} holds the measurements of another run; choose another directory with -o, or add --force",
           directory.string());
    empty_of_measurements(directory);
  }
  if (const std::optional<LaunchRecord> launch = launch_record(directory)) {
    if (!force && !is_abandoned(*launch)) refuse_launch_of_others(directory, *launch);
    Folder(directory).remove(kLaunchFile);
  }
  return directory;
}

// Without this folder each process makes its own tables.
void make_room_for_shared_tables(const fs::path& directory) {
  try {
    Folder(directory).folder(hpcrun::kSharedTablesFolder);
  } catch (const WriteError&) {
    return;
  }
}

void remove_shared_tables(const fs::path& directory) {
  std::error_code error;
  const fs::path folder = directory / hpcrun::kSharedTablesFolder;
  std::vector<fs::path> tables;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (is_shared_table(entry.path())) tables.push_back(entry.path());
  if (error) return;
  for (const fs::path& table : tables) remove_own(table);
  fs::remove(folder, error);  // if it is empty
}

void write_run_record(const fs::path& directory, const std::vector<std::string>& command,
                      const std::string& start, const Outcome& outcome, double trigger_cost_s,
                      const std::string& name) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const nlohmann::ordered_json record = {
      {"command", command},
      {"host", host.data()},
      {"start", start},
      {"wall_s", outcome.wall_s},
      {"cpu_s", outcome.cpu_s},
      {"exit_status", outcome.exit_status},
      {"signal", outcome.signal},
      {"pid", outcome.pid},
      {"end_monotonic_ns", outcome.end_monotonic_ns},
      {"trigger_cost_s", trigger_cost_s},
  };
  // Renamed when it is complete: other ranks take its existence as the end.
  try {
    Folder(directory).write(name,
                            record.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } catch (const WriteError&) {
    say("cannot write {}; the report will lack the run's times", (directory / name).string());
  }
}

std::string present_time() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

// Combines the first pages of measurement files, which count every sample. Modification times are not
// sufficient: a process writes through mapped memory, which updates the time only occasionally. Members of
// containers are represented by their checksums.
std::string state_of_measurements(const fs::path& directory) {
  size_t files = 0;
  uint32_t sum = 0;
  for (const StoredFile& file : stored_files(directory).files) {
    const std::string name = file.path.filename().string();
    if (!is_measurement(file) && name != "run.json" && !rank_of_record(file.path)) continue;
    const std::string begin = file.is_member() ? fmt::format("{} {}", file.bytes, file.checksum)
                                               : beginning_of(file, hpcrun::kPageBytes);
    sum = hpcrun::crc32c(sum, name.data(), name.size());
    sum = hpcrun::crc32c(sum, begin.data(), begin.size());
    ++files;
  }
  return fmt::format("{} {:08x}\n", files, sum);
}

uint64_t bytes_of_measurements(const fs::path& directory) {
  uint64_t bytes = 0;
  for (const StoredFile& file : stored_files(directory).files) {
    std::error_code error;
    if (file.path.extension() == ".prof")
      bytes += file.is_member() ? file.bytes : fs::file_size(file.path, error);
  }
  return bytes;
}

bool has_measurements(const fs::path& directory) {
  return std::ranges::any_of(stored_files(directory).files, is_measurement);
}

bool has_measurement_names(const fs::path& directory) {
  std::error_code error;
  return std::ranges::any_of(fs::directory_iterator(directory, error), [](const fs::directory_entry& entry) {
    return entry.path().extension() == ".prof";
  });
}

// A container exists from the start of a run on.
bool is_taken(const fs::path& directory) {
  return has_measurements(directory) || !containers_in(directory).empty();
}

fs::path unreadable_measurement(const fs::path& directory) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error))
    if ((entry.path().extension() == ".prof" || entry.path().extension() == hpcrun::kContainerSuffix) &&
        access(entry.path().c_str(), R_OK) != 0 && errno == EACCES)
      return entry.path();
  return {};
}

bool is_measurement_file(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && is_measurement(file);
}

bool is_measurement(const StoredFile& file) {
  return file.path.extension() == ".prof" &&
         beginning_of(file, sizeof hpcrun::kFileMagic) ==
             std::string_view(hpcrun::kFileMagic, sizeof hpcrun::kFileMagic);
}

}  // namespace prof
