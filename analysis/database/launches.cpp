// launches.sqlite: who submitted each task of a device, and when it ran.

#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>

#include "analysis/database/database.h"
#include "analysis/database/format.h"
#include "analysis/database/read.h"
#include "analysis/database/utf8.h"
#include "analysis/database/write.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBlockLaunches = 8 * 1024;

struct Closer {
  void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Connection = std::unique_ptr<sqlite3, Closer>;
using Statement = std::unique_ptr<sqlite3_stmt, Closer>;

class LaunchFile {
 public:
  LaunchFile(const fs::path& path, bool writes) : path_(path), writes_(writes) {
    sqlite3* connection = nullptr;
    const int flags = writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    const int status = sqlite3_open_v2(path.c_str(), &connection, flags, nullptr);
    connection_.reset(connection);
    if (status != SQLITE_OK) fail();
  }

  [[noreturn]] void fail() const {
    const std::string cause = valid_utf8(sqlite3_errmsg(connection_.get()));
    throw DatabaseError(
        writes_ ? DatabaseError::Kind::Unwritable : DatabaseError::Kind::Corrupt,
        writes_ ? fmt::format("{}: cannot write: {}; choose another directory with -o", path_.string(), cause)
                : fmt::format("{}: damaged: {}; analyze the measurements again", path_.string(), cause));
  }

  void execute(const char* sql) {
    if (sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }
  Statement prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(connection_.get(), sql, -1, &statement, nullptr) != SQLITE_OK) fail();
    return Statement(statement);
  }
  // True where there is a row.
  bool step(const Statement& statement) {
    const int status = sqlite3_step(statement.get());
    if (status != SQLITE_ROW && status != SQLITE_DONE) fail();
    return status == SQLITE_ROW;
  }

 private:
  fs::path path_;
  bool writes_;
  Connection connection_;
};

void write_names(const Database& database, LaunchFile& file) {
  const Statement insert = file.prepare("INSERT INTO task VALUES (?, ?)");
  for (size_t i = 0; i < database.task_names.size(); ++i) {
    const std::string name = valid_utf8(database.task_names[i]);
    sqlite3_bind_int64(insert.get(), 1, static_cast<int64_t>(i));
    sqlite3_bind_text(insert.get(), 2, name.data(), static_cast<int>(name.size()), SQLITE_TRANSIENT);
    file.step(insert);
    sqlite3_reset(insert.get());
  }
}

// Reads on where the block before ended; a copy starts at the beginning.
class StoredLaunches {
 public:
  StoredLaunches(fs::path path, size_t tasks, size_t profiles)
      : path_(std::move(path)), tasks_(tasks), profiles_(profiles) {}
  StoredLaunches(const StoredLaunches& other)
      : path_(other.path_), tasks_(other.tasks_), profiles_(other.profiles_) {}
  StoredLaunches(StoredLaunches&&) = default;
  StoredLaunches& operator=(const StoredLaunches&) = delete;

  bool operator()(std::vector<DeviceLaunch>& block) {
    block.clear();
    if (done_) {  // another step would start over
      done_ = false;
      return false;
    }
    if (!file_) {
      file_ = std::make_unique<LaunchFile>(path_, false);
      rows_ = file_->prepare(
          "SELECT task, queue, thread, submit_ns, start_ns, end_ns FROM launch ORDER BY rowid");
    }
    while (block.size() < kBlockLaunches) {
      if (!file_->step(rows_)) {
        rows_.reset();
        file_.reset();
        done_ = !block.empty();
        break;
      }
      const auto number = [&](int column) {
        return static_cast<uint64_t>(sqlite3_column_int64(rows_.get(), column));
      };
      const bool has_thread = sqlite3_column_type(rows_.get(), 2) == SQLITE_INTEGER && number(2) < profiles_;
      if (number(0) >= tasks_ || number(1) >= profiles_ || number(3) > number(4) || number(4) > number(5))
        continue;
      block.push_back({static_cast<uint32_t>(number(0)), static_cast<uint32_t>(number(1)),
                       has_thread ? static_cast<uint32_t>(number(2)) : kNone, number(3), number(4),
                       number(5)});
    }
    return !block.empty();
  }

 private:
  fs::path path_;
  size_t tasks_, profiles_;
  std::unique_ptr<LaunchFile> file_;
  Statement rows_;
  bool done_ = false;  // with the file, which the next call has to say
};

}  // namespace

bool write_launches(const Database& database, const fs::path& directory) {
  if (!database.launches) return false;
  LaunchFile file(directory / format::kLaunchFile, true);
  // In a folder that nobody reads before it is complete: what a journal is for does not happen.
  file.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  file.execute("CREATE TABLE task (id INTEGER PRIMARY KEY, name TEXT NOT NULL)");
  file.execute(
      "CREATE TABLE launch (task INTEGER NOT NULL, queue INTEGER NOT NULL, thread INTEGER, "
      "submit_ns INTEGER NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL)");
  write_names(database, file);
  const Statement insert = file.prepare("INSERT INTO launch VALUES (?, ?, ?, ?, ?, ?)");
  LaunchSource next = database.launches;
  std::vector<DeviceLaunch> block;
  while (next(block)) {
    for (const DeviceLaunch& launch : block) {
      sqlite3_bind_int64(insert.get(), 1, launch.task);
      sqlite3_bind_int64(insert.get(), 2, launch.queue);
      if (launch.thread == kNone)
        sqlite3_bind_null(insert.get(), 3);
      else
        sqlite3_bind_int64(insert.get(), 3, launch.thread);
      sqlite3_bind_int64(insert.get(), 4, static_cast<int64_t>(launch.submit_ns));
      sqlite3_bind_int64(insert.get(), 5, static_cast<int64_t>(launch.start_ns));
      sqlite3_bind_int64(insert.get(), 6, static_cast<int64_t>(launch.end_ns));
      file.step(insert);
      sqlite3_reset(insert.get());
    }
  }
  file.execute("COMMIT");
  return true;
}

void read_launches(const fs::path& directory, Database& database) {
  const fs::path path = directory / format::kLaunchFile;
  if (!fs::exists(path)) return;
  LaunchFile file(path, false);
  const Statement names = file.prepare("SELECT name FROM task ORDER BY id");
  while (file.step(names)) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(names.get(), 0));
    database.task_names.push_back(text == nullptr ? "" : valid_utf8(text));
  }
  database.launches = StoredLaunches(path, database.task_names.size(), database.profiles.size());
}

}  // namespace prof
