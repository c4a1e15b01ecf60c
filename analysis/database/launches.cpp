// launches.sqlite: which thread submitted each task of a device, when the task ran, and which threads waited
// for devices.

#include <memory>

#include "analysis/database/database.h"
#include "analysis/database/format.h"
#include "analysis/database/read.h"
#include "analysis/database/sqlite_file.h"
#include "analysis/database/write.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBlockRows = 8 * 1024;

void write_names(const std::vector<std::string>& names, const char* sql, const SqliteFile& file) {
  SqliteRows insert = file.prepare(sql);
  for (size_t i = 0; i < names.size(); ++i) {
    insert.bind(0, uint64_t{i});
    insert.bind(1, std::string_view(names[i]));
    insert.execute();
  }
}

std::vector<std::string> read_names(const char* sql, const SqliteFile& file) {
  std::vector<std::string> names;
  for (SqliteRows rows = file.prepare(sql); rows.step();) names.push_back(rows.text(0));
  return names;
}

// Inserts all rows of a source. bind(insert, row) sets the statement's parameters.
template <typename Row, typename Bind>
void write_rows(const std::function<bool(std::vector<Row>&)>& source, const char* sql, const SqliteFile& file,
                const Bind& bind) {
  if (!source) return;
  SqliteRows insert = file.prepare(sql);
  std::function<bool(std::vector<Row>&)> next = source;  // a copy, with a position of its own
  std::vector<Row> block;
  while (next(block)) {
    for (const Row& row : block) {
      bind(insert, row);
      insert.execute();
    }
  }
}

void bind_or_null(SqliteRows& insert, int parameter, uint64_t value, uint64_t null) {
  if (value == null)
    insert.bind_null(parameter);
  else
    insert.bind(parameter, value);
}

void write_tasks(const Database& database, const SqliteFile& file) {
  file.execute("CREATE TABLE task (id INTEGER PRIMARY KEY, name TEXT NOT NULL)");
  file.execute(
      "CREATE TABLE launch (task INTEGER NOT NULL, queue INTEGER NOT NULL, thread INTEGER, "
      "submit_ns INTEGER NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, sampled_ns INTEGER)");
  write_names(database.task_names, "INSERT INTO task VALUES (?, ?)", file);
  write_rows<DeviceLaunch>(database.launches, "INSERT INTO launch VALUES (?, ?, ?, ?, ?, ?, ?)", file,
                           [](SqliteRows& insert, const DeviceLaunch& launch) {
                             insert.bind(0, uint64_t{launch.task});
                             insert.bind(1, uint64_t{launch.queue});
                             bind_or_null(insert, 2, launch.thread, kNone);
                             insert.bind(3, launch.submit_ns);
                             insert.bind(4, launch.start_ns);
                             insert.bind(5, launch.end_ns);
                             bind_or_null(insert, 6, launch.sampled_ns, 0);
                           });
}

void write_waits(const Database& database, const SqliteFile& file) {
  file.execute("CREATE TABLE call (id INTEGER PRIMARY KEY, name TEXT NOT NULL)");
  file.execute(
      "CREATE TABLE wait (call INTEGER NOT NULL, thread INTEGER NOT NULL, begin_ns INTEGER NOT NULL, "
      "end_ns INTEGER NOT NULL, launch_latency_ns INTEGER NOT NULL, gap_ns INTEGER NOT NULL, "
      "wake_latency_ns INTEGER NOT NULL)");
  write_names(database.wait_names, "INSERT INTO call VALUES (?, ?)", file);
  write_rows<WaitForDevice>(database.device_waits, "INSERT INTO wait VALUES (?, ?, ?, ?, ?, ?, ?)", file,
                            [](SqliteRows& insert, const WaitForDevice& wait) {
                              insert.bind(0, uint64_t{wait.call});
                              insert.bind(1, uint64_t{wait.thread});
                              insert.bind(2, wait.begin_ns);
                              insert.bind(3, wait.end_ns);
                              insert.bind(4, wait.launch_latency_ns);
                              insert.bind(5, wait.gap_ns);
                              insert.bind(6, wait.wake_latency_ns);
                            });
}

// Each call continues after the previous block; a copy starts at the beginning.
template <typename Row>
class StoredRows {
 public:
  // Returns false if the row has an invalid reference.
  using Convert = bool (*)(const SqliteRows& rows, size_t names, size_t profiles, Row& row);

  StoredRows(fs::path path, const char* sql, Convert convert, size_t names, size_t profiles)
      : path_(std::move(path)), sql_(sql), convert_(convert), names_(names), profiles_(profiles) {}
  StoredRows(const StoredRows& other)
      : StoredRows(other.path_, other.sql_, other.convert_, other.names_, other.profiles_) {}
  StoredRows(StoredRows&&) = default;
  StoredRows& operator=(const StoredRows&) = delete;

  bool operator()(std::vector<Row>& block) {
    block.clear();
    if (done_) {  // another step would start over
      done_ = false;
      return false;
    }
    if (!open_) open_ = std::make_unique<Open>(path_, sql_);
    while (block.size() < kBlockRows) {
      if (!open_->rows.step()) {
        open_.reset();
        done_ = !block.empty();
        break;
      }
      Row row;
      if (convert_(open_->rows, names_, profiles_, row)) block.push_back(row);
    }
    return !block.empty();
  }

 private:
  struct Open {
    Open(const fs::path& path, const char* sql)
        : file(path, SqliteFile::Mode::Read), rows(file.prepare(sql)) {}
    SqliteFile file;
    SqliteRows rows;
  };
  fs::path path_;
  const char* sql_;
  Convert convert_;
  size_t names_, profiles_;
  std::unique_ptr<Open> open_;
  bool done_ = false;  // the file has ended; the next call reports that
};

bool to_launch(const SqliteRows& rows, size_t names, size_t profiles, DeviceLaunch& launch) {
  const bool has_thread = !rows.is_null(2) && rows.number(2) < profiles;
  if (rows.number(0) >= names || rows.number(1) >= profiles || rows.number(3) > rows.number(4) ||
      rows.number(4) > rows.number(5))
    return false;
  launch = {static_cast<uint32_t>(rows.number(0)),
            static_cast<uint32_t>(rows.number(1)),
            has_thread ? static_cast<uint32_t>(rows.number(2)) : kNone,
            rows.number(3),
            rows.number(4),
            rows.number(5),
            rows.number(6)};
  return true;
}

bool to_wait(const SqliteRows& rows, size_t names, size_t profiles, WaitForDevice& wait) {
  wait = {static_cast<uint32_t>(rows.number(0)),
          static_cast<uint32_t>(rows.number(1)),
          rows.number(2),
          rows.number(3),
          rows.number(4),
          rows.number(5),
          rows.number(6)};
  if (rows.number(0) >= names || rows.number(1) >= profiles || wait.begin_ns > wait.end_ns) return false;
  uint64_t rest = wait.end_ns - wait.begin_ns;
  for (const uint64_t part : {wait.launch_latency_ns, wait.gap_ns, wait.wake_latency_ns}) {
    if (part > rest) return false;
    rest -= part;
  }
  return true;
}

}  // namespace

bool write_launches(const Database& database, const fs::path& directory) {
  if (!database.launches && !database.device_waits) return false;
  const SqliteFile file(directory / format::kLaunchFile, SqliteFile::Mode::Write);
  write_tasks(database, file);
  write_waits(database, file);
  file.commit();
  return true;
}

void read_launches(const fs::path& directory, Database& database) {
  const fs::path path = directory / format::kLaunchFile;
  if (!fs::exists(path)) return;
  const SqliteFile file(path, SqliteFile::Mode::Read);
  const size_t profiles = database.profiles.size();
  database.task_names = read_names("SELECT name FROM task ORDER BY id", file);
  database.launches = StoredRows<DeviceLaunch>(
      path, "SELECT task, queue, thread, submit_ns, start_ns, end_ns, sampled_ns FROM launch ORDER BY rowid",
      to_launch, database.task_names.size(), profiles);
  database.wait_names = read_names("SELECT name FROM call ORDER BY id", file);
  database.device_waits = StoredRows<WaitForDevice>(
      path,
      "SELECT call, thread, begin_ns, end_ns, launch_latency_ns, gap_ns, wake_latency_ns FROM wait "
      "ORDER BY rowid",
      to_wait, database.wait_names.size(), profiles);
}

}  // namespace prof
