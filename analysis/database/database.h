#pragma once
// Databases on disk: the HPCToolkit format, version 4.0 (docs/database.md says which parts and what stands
// beside it). `prof analyze` writes one, everything that shows results reads one, whether we or HPCToolkit
// wrote it. Not for measurement files, and not thread-safe per Database (traces have a position).

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include "analysis/database/model.h"
#include "analysis/database/progress.h"

namespace prof {

class Team;

// what() is one line: the file, the cause, the remedy.
class DatabaseError : public std::runtime_error {
 public:
  enum class Kind {
    NotADatabase,  // the directory or file is something else, or is not there
    WrongVersion,  // HPCToolkit's format, but not its major version 4
    Truncated,     // the file ends before its footer
    Corrupt,       // a pointer, count or value in the file cannot be right
    Unreadable,    // the system refuses to read
    Unwritable,    // the system refuses to write (full disk, permissions)
    InvalidModel,  // what was given to write breaks a rule of model.h or a limit of the format
  };
  DatabaseError(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

// True for a directory with files of our or HPCToolkit's making in it, whole or not.
bool is_database(const std::filesystem::path& directory);

// Throws DatabaseError::Unwritable unless the directory does not exist, is empty or is a database.
void require_place_for_database(const std::filesystem::path& directory);

// Nothing reads it any longer, and it can be written again; does nothing where no database is. Throws
// filesystem_error.
void invalidate_database(const std::filesystem::path& directory);

// Writes `database` to `directory`, which is created and must fulfil require_place_for_database(). Everything
// is written to a temporary sibling first: when this throws, no new database is there. An existing database
// is replaced; other files in the directory (findings.sqlite) stay. Source files marked as copied are copied
// into src/, and stay marked, where they can be read. Summaries are computed when there are none, and
// returned. Reads every trace to its end, by copies of its source. On `jobs` threads, on which the result
// does not depend; of a team each process calls it and writes its share, and the first returns the summaries.
std::vector<Summary> write_database(const Database& database, const std::filesystem::path& directory,
                                    int jobs = 1);
//
// `complete`, of each process, is called before the new database takes its place: what the first one's writes
// into `folder` comes with it. Only the first one's gets the summaries, where there were none. It is not called
// where an analysis goes on that was interrupted behind it.
using Completion =
    std::function<void(const std::filesystem::path& folder, const std::vector<Summary>& summaries)>;
std::vector<Summary> write_database(const Database& database, const std::filesystem::path& directory,
                                    int jobs, Team& team, const Completion& complete = {},
                                    const Progress& progress = {});

// Reads a database with summaries for every metric; statistics that the writer left out are computed from the
// profiles. Needs meta.db and profile.db; trace.db and run.json are optional. A trace is read when its
// TraceSource is called: it throws DatabaseError as well, starts over after it returned false, and a copy has
// its own position.
//
// Of a large database the values are most of it, and few of them are ever looked at. WhenAskedFor leaves them
// in the file, for Database::stored to read, which throws DatabaseError, too; unless the writer left out sums
// over the profiles.
enum class ReadValues : uint8_t { Now, WhenAskedFor };
Database read_database(const std::filesystem::path& directory, ReadValues when = ReadValues::Now);

}  // namespace prof
