#pragma once
// Reads and writes databases in the HPCToolkit format, version 4.0. docs/database.md lists the parts of the
// format that are used, and the files that are added to it. `prof analyze` writes a database; everything that
// shows results reads one, written by prof or by HPCToolkit. Not for measurement files. A Database is not
// thread-safe, because traces have a position.

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include "analysis/database/model.h"
#include "analysis/database/progress.h"

namespace prof {

class AnalysisWorkers;

// what() is one line: the file, the cause, and how to fix it.
class DatabaseError : public std::runtime_error {
 public:
  enum class Kind {
    NotADatabase,  // the directory or file does not exist or is something else
    WrongVersion,  // HPCToolkit's format, but not its major version 4
    Truncated,     // the file ends before its footer
    Corrupt,       // a pointer, count or value in the file is invalid
    Unreadable,    // the system refuses to read it
    Unwritable,    // the system refuses to write it (full disk, permissions)
    InvalidModel,  // the model to write breaks a rule of model.h or a limit of the format
  };
  DatabaseError(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

// True if the directory has files that prof or HPCToolkit wrote for a database, complete or not.
bool is_database(const std::filesystem::path& directory);

// Throws DatabaseError::Unwritable unless the directory does not exist, is empty or is a database.
void require_place_for_database(const std::filesystem::path& directory);

// Makes a database unreadable, so that it can be written again. Does nothing if there is none. Throws
// filesystem_error.
void invalidate_database(const std::filesystem::path& directory);

// Writes `database` to `directory`, which is created and must satisfy require_place_for_database(). Writes to
// a temporary sibling first: if this throws, there is no new database. An existing database is replaced;
// other files in the directory (findings.sqlite) stay. Source files marked as copied are copied into src/,
// and stay marked if they can be read. Computes and returns summaries if there are none. Reads every trace to
// its end, through a copy of its source. Uses `jobs` threads, which do not affect the result. Each of several
// workers calls it and writes its share, and the first returns the summaries.
std::vector<Summary> write_database(const Database& database, const std::filesystem::path& directory,
                                    int jobs = 1);
// `complete` is called in each process before the new database replaces the old one. Files that the first
// process writes into `folder` become part of the database. Only the first process gets the summaries, if
// there were none. It is not called when an interrupted analysis resumes after that point.
using Completion =
    std::function<void(const std::filesystem::path& folder, const std::vector<Summary>& summaries)>;
std::vector<Summary> write_database(const Database& database, const std::filesystem::path& directory,
                                    int jobs, AnalysisWorkers& workers, const Completion& complete = {},
                                    const Progress& progress = {});

// Reads a database, with summaries for every metric; statistics that the writer omitted are computed from the
// profiles. Needs meta.db and profile.db; trace.db and run.json are optional. A trace is read when its
// TraceSource is called. A TraceSource also throws DatabaseError, starts over after it returned false, and
// has its own position in each copy.
//
// Values are most of a large database, and few of them are ever used. WhenAskedFor leaves them in the file,
// unless the writer omitted sums over the profiles. Database::stored then reads them, and throws
// DatabaseError too.
enum class ReadValues : uint8_t { Now, WhenAskedFor };
Database read_database(const std::filesystem::path& directory, ReadValues when = ReadValues::Now);

}  // namespace prof
