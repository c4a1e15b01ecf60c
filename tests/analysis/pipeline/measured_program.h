#pragma once
// Measurements of an imagined program whose code is the attribution fixture: call paths are made of functions
// whose names and lines are known.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/database/model.h"
#include "hpcrun/unwind/frame.h"
#include "tests/measurement/recorder.h"

namespace prof::test {

constexpr uint64_t kMillisecond = 1'000'000;

// Places in the fixture's code. With debug information:
//   outer: exported_entry, at its line; inlined: work -> twice -> apply; plain: work itself.
struct FixturePlaces {
  uint64_t outer, inlined, plain;
  std::string outer_path, inlined_path, plain_path;  // as path_of() below writes them
};
FixturePlaces fixture_places();

std::filesystem::path fixture_module();
// Without symbols or debug information: its functions are named by their starts and have no lines.
void make_stripped_module(const std::filesystem::path& path);
// Start of the code of a fixture function, and the name that it has when stripped.
uint64_t fixture_address(const std::string& symbol);
std::string stripped_name(const std::filesystem::path& module, uint64_t address);

constexpr uint16_t kModule = 1;
constexpr uint16_t kTime = 0;
constexpr uint16_t kMisses = 1;

// Declares the module and the metrics CPUTIME (ns, in seconds) and MISSES (counted).
void describe(hpcrun::MeasurementFile& file, const std::filesystem::path& module);

// One sample with the call path given outermost first, as offsets in the module.
void sample(RecordedThread& thread, std::vector<uint64_t> path, uint16_t metric, uint64_t value);

// "main thread/exported_entry:40/work:22/~twice:18": functions with the line inside them that the path goes
// through, "~" where inlined. A Function context itself has no line at its end.
std::string path_of(const Database& database, uint32_t context);

// The values of a metric in a profile, by path.
std::map<std::string, Values> values_by_path(const Database& database, const Profile& profile,
                                             uint32_t metric);

}  // namespace prof::test
