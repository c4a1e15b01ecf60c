#pragma once
// The parts of the database writer, in the order in which write_database() calls them. Each writes one file
// into `directory`.

#include <filesystem>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/database/output.h"
#include "analysis/database/progress.h"
#include "analysis/database/written_profiles.h"
#include "analysis/workers/workers.h"

namespace prof {

// Used for writing: `jobs` threads in each worker.
struct Writers {
  int jobs;
  AnalysisWorkers& workers;
  const Progress& progress;  // of this process's share
};

// Throws DatabaseError::InvalidModel if the rules of model.h or the limits of the format are broken.
// validate_values() checks the values of profiles.
void validate(const Database& database);
void validate_values(const Database& database, size_t profile, const std::vector<ProfileValue>& values);

// Copies the marked files into src/. Returns for each file whether there is a copy; a file that can no longer
// be read is omitted.
std::vector<bool> write_sources(const Database& database, const std::filesystem::path& directory);
// `copied`: for each file whether src/ has it.
void write_meta(const Database& database, const std::vector<bool>& copied,
                const std::filesystem::path& directory);
// Writes the values of the profiles.
WrittenProfiles write_profiles(const Database& database, const std::filesystem::path& directory,
                               const Writers& writers);
// Reads the values from profile.db, which must be in the directory. Only the first process gets the result.
WrittenContexts write_contexts(const Database& database, const WrittenProfiles& written,
                               const std::filesystem::path& directory, const Writers& writers);
// Writes the statistics and the list of profiles.
void finish_profiles(const Database& database, const WrittenProfiles& written,
                     const WrittenContexts& contexts, const std::filesystem::path& directory);
// Returns false, and writes no file, if no profile has a trace.
bool write_traces(const Database& database, const std::filesystem::path& directory, const Writers& writers);
void write_taxonomy(const Database& database, const std::filesystem::path& directory);
// Returns false, and writes no file, if there are no launches.
bool write_launches(const Database& database, const std::filesystem::path& directory);
// Returns false, and writes no file, if no instruction has costs.
bool write_instructions(const Database& database, const std::filesystem::path& directory);
void write_run(const Database& database, const std::filesystem::path& directory);

// The file numbers contexts differently: 0 is its global context, above all entry points.
constexpr uint32_t kGlobalContext = 0;
constexpr uint32_t context_id(uint32_t context) {
  return context + 1;
}

}  // namespace prof
