#pragma once
// Where a run leaves what it measured.

#include <filesystem>
#include <string>
#include <vector>

#include "hpcrun/measurement/stored_file.h"
#include "prof/launch/launch.h"

namespace prof {

// Where a directory is made: `asked` with its % expanded, or the default name in the current one. Absolute.
std::filesystem::path measurement_directory_path(const std::string& asked, const std::string& program);

// Creates the directory: `asked` with its % expanded (directory_name.h), or prof-<program>-<job id or
// time>-<pid> in the current one. An existing directory with measurements in it, or that a launch of many
// ranks has taken (launch_record.h), is not touched unless `force`, which removes them and run.json, and
// invalidates database/; files of others stay, and one in the way of those two is an error. Throws
// CommandError (125) or DatabaseError. The path is absolute.
std::filesystem::path create_measurement_directory(const std::string& asked, const std::string& program,
                                                   bool force);

// The folder in which the processes of a run share what they know of load modules (kSharedTablesFolder), and
// its end. Nothing is lost where either fails.
void make_room_for_shared_tables(const std::filesystem::path& directory);
void remove_shared_tables(const std::filesystem::path& directory);

// Leaves run.json, or another `name`, beside the measurements: command, host, start, wall_s, cpu_s,
// exit_status, signal, and trigger_cost_s, what one sample cost before the handler began.
void write_run_record(const std::filesystem::path& directory, const std::vector<std::string>& command,
                      const std::string& start, const Outcome& outcome, double trigger_cost_s,
                      const std::string& name = "run.json");

// The present as ISO 8601, in UTC.
std::string present_time();

// One line that is another whenever more was measured into the directory, by processes that still run too.
std::string state_of_measurements(const std::filesystem::path& directory);

// All measurement files together.
uint64_t bytes_of_measurements(const std::filesystem::path& directory);

// True when there is at least one measurement file that the runtime wrote, alone or in a container: others'
// files named *.prof do not count.
bool has_measurements(const std::filesystem::path& directory);

// True if the directory has a file by the name of a measurement file, whatever is in it.
bool has_measurement_names(const std::filesystem::path& directory);

// True where a run has measured, or is going to leave what its ranks measure elsewhere meanwhile.
bool is_taken(const std::filesystem::path& directory);

// A measurement file or container in the directory that this user may not read; empty where there is none.
std::filesystem::path unreadable_measurement(const std::filesystem::path& directory);

// True for what the runtime wrote.
bool is_measurement_file(const std::filesystem::path& file);
bool is_measurement(const StoredFile& file);

}  // namespace prof
