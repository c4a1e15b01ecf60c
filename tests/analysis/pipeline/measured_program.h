#pragma once
// Measurements of a synthetic program whose code is the attribution fixture, so that the names and lines of
// its functions are known.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/database/model.h"
#include "hpcrun/unwind/frame.h"
#include "tests/measurement/recorder.h"

namespace prof::test {

constexpr uint64_t kMillisecond = 1'000'000;

// Addresses in the fixture's code. With debug information:
//   outer: exported_entry, at its line; inlined: work -> twice -> apply; plain: work itself.
struct FixturePlaces {
  uint64_t outer, inlined, plain;
  std::string outer_path, inlined_path, plain_path;  // in the format of path_of() below
};
FixturePlaces fixture_places();

std::filesystem::path fixture_module();
// Makes a module without symbols or debug information: its functions are named by their start addresses and
// have no lines.
void make_stripped_module(const std::filesystem::path& path);
// Return the start of a fixture function's code, and its name when stripped.
uint64_t fixture_address(const std::string& symbol);
std::string stripped_name(const std::filesystem::path& module, uint64_t address);

constexpr uint16_t kModule = 1;
constexpr uint16_t kTime = 0;
constexpr uint16_t kMisses = 1;

// Declares the module and the metrics CPUTIME (ns, in seconds) and MISSES (counted).
void describe(hpcrun::MeasurementFile& file, const std::filesystem::path& module);

// Adds a sample. `path` is the call path, outermost frame first, as offsets in the module.
void sample(RecordedThread& thread, std::vector<uint64_t> path, uint16_t metric, uint64_t value);

// Returns "main thread/exported_entry:40/work:22/~twice:18": the functions of the path, each with the line in
// it, "~" before inlined ones. A Function context has no line at its end.
std::string path_of(const Database& database, uint32_t context);

// Returns the values of a metric in a profile, by path.
std::map<std::string, Values> values_by_path(const Database& database, const Profile& profile,
                                             uint32_t metric);

}  // namespace prof::test
