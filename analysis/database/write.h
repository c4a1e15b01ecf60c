#pragma once
// The parts of the database writer; write_database() calls them in this order. Each writes one file into
// `directory`.

#include <filesystem>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/database/output.h"
#include "analysis/database/progress.h"
#include "analysis/database/written_profiles.h"
#include "analysis/team/team.h"

namespace prof {

// Who writes: on `jobs` threads of each process of the team.
struct Writers {
  int jobs;
  Team& team;
  const Progress& progress;  // of the own share
};

// Throws DatabaseError::InvalidModel when the rules of model.h or the limits of the format are broken.
// Values of profiles are left to validate_values().
void validate(const Database& database);
void validate_values(const Database& database, size_t profile, const std::vector<ProfileValue>& values);

// Copies the files marked so into src/. For each file whether a copy is there: one that can no longer be read
// is left out.
std::vector<bool> write_sources(const Database& database, const std::filesystem::path& directory);
// `copied`: for each file whether src/ has it.
void write_meta(const Database& database, const std::vector<bool>& copied,
                const std::filesystem::path& directory);
// The values of the profiles.
WrittenProfiles write_profiles(const Database& database, const std::filesystem::path& directory,
                               const Writers& writers);
// Reads the values from profile.db, which is in the directory. The result is the first process's.
WrittenContexts write_contexts(const Database& database, const WrittenProfiles& written,
                               const std::filesystem::path& directory, const Writers& writers);
// The statistics, and the list of profiles.
void finish_profiles(const Database& database, const WrittenProfiles& written,
                     const WrittenContexts& contexts, const std::filesystem::path& directory);
// False, and no file, when no profile has a trace.
bool write_traces(const Database& database, const std::filesystem::path& directory, const Writers& writers);
void write_taxonomy(const Database& database, const std::filesystem::path& directory);
// False, and no file, when there are no launches.
bool write_launches(const Database& database, const std::filesystem::path& directory);
// False, and no file, when no instruction has costs.
bool write_instructions(const Database& database, const std::filesystem::path& directory);
void write_run(const Database& database, const std::filesystem::path& directory);

// File and model count contexts differently: 0 is the file's global context, above all entry points.
constexpr uint32_t kGlobalContext = 0;
constexpr uint32_t context_id(uint32_t context) {
  return context + 1;
}

}  // namespace prof
