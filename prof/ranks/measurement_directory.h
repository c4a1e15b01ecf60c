#pragma once
// The directory in which a run leaves its measurements.

#include <filesystem>
#include <string>
#include <vector>

#include "hpcrun/measurement/stored_file.h"
#include "prof/launch/launch.h"

namespace prof {

// Returns where a directory is made: `asked` with its % expanded, or the default name in the current
// directory. Absolute.
std::filesystem::path measurement_directory_path(const std::string& asked, const std::string& program);

// Creates the directory: `asked` with its % expanded (directory_name.h), or prof-<program>-<job id or
// time>-<pid> in the current directory. A directory that holds measurements, or that a launch of many ranks
// has taken (launch_record.h), is not changed unless `force` is true. `force` removes measurements and
// run.json, and invalidates database/. Files of other programs stay; one that has the name of run.json or
// database/ is an error. Throws CommandError (125) or DatabaseError. The path is absolute.
std::filesystem::path create_measurement_directory(const std::string& asked, const std::string& program,
                                                   bool force);

// Create and remove the folder in which the processes of a run share tables of load modules
// (kSharedTablesFolder). Nothing is lost if either fails.
void make_room_for_shared_tables(const std::filesystem::path& directory);
void remove_shared_tables(const std::filesystem::path& directory);

// Writes run.json, or another `name`, next to the measurements: command, host, start, wall_s, cpu_s,
// exit_status, signal, and trigger_cost_s, the cost of one sample before the handler begins.
void write_run_record(const std::filesystem::path& directory, const std::vector<std::string>& command,
                      const std::string& start, const Outcome& outcome, double trigger_cost_s,
                      const std::string& name = "run.json");

// Returns the present time as ISO 8601, in UTC.
std::string present_time();

// Returns one line that changes whenever more was measured into the directory, also by processes that still
// run.
std::string state_of_measurements(const std::filesystem::path& directory);

// Returns the size of all measurement files together.
uint64_t bytes_of_measurements(const std::filesystem::path& directory);

// True if there is at least one measurement file that the runtime wrote, alone or in a container. Files named
// *.prof of other programs do not count.
bool has_measurements(const std::filesystem::path& directory);

// True if the directory has a file with the name of a measurement file, whatever its contents.
bool has_measurement_names(const std::filesystem::path& directory);

// True if a run has measured there, or is going to leave measurements there that its ranks make elsewhere.
bool is_taken(const std::filesystem::path& directory);

// Returns a measurement file or container in the directory that this user may not read; empty if there is
// none.
std::filesystem::path unreadable_measurement(const std::filesystem::path& directory);

// True if the runtime wrote the file.
bool is_measurement_file(const std::filesystem::path& file);
bool is_measurement(const StoredFile& file);

}  // namespace prof
