#include "analysis/database/sqlite_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "analysis/database/database.h"
#include "analysis/database/utf8.h"
#include "analysis/files/folder.h"
#include "hpcrun/measurement/regular_file.h"

namespace prof {

namespace {

// Creates the file first, because SQLite would follow a symbolic link.
void make_empty(const std::filesystem::path& path) try {
  ::close(open_own_file(path, O_RDWR | O_CREAT | O_TRUNC));
} catch (const WriteError& error) {
  throw DatabaseError(DatabaseError::Kind::Unwritable, error.what());
}

}  // namespace

SqliteFile::SqliteFile(const std::filesystem::path& path, Mode mode) : path_(path), mode_(mode) {
  if (mode == Mode::Write) make_empty(path);
  if (mode == Mode::Read) {
    if (const RegularFile file(path); !file.is_open())
      throw DatabaseError(DatabaseError::Kind::Unreadable,
                          fmt::format("{}: cannot read: {}; check the path and its permissions",
                                      path.string(), file.reason()));
  }
  sqlite3* connection = nullptr;
  const int flags = mode == Mode::Write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  const int status = sqlite3_open_v2(path.c_str(), &connection, flags, nullptr);
  connection_.reset(connection);
  if (status != SQLITE_OK) fail();
  if (mode == Mode::Write) execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
}

void SqliteFile::fail() const {
  const std::string cause = valid_utf8(sqlite3_errmsg(connection_.get()));
  if (mode_ == Mode::Write)
    throw DatabaseError(
        DatabaseError::Kind::Unwritable,
        fmt::format("{}: cannot write: {}; choose another directory with -o", path_.string(), cause));
  throw DatabaseError(DatabaseError::Kind::Corrupt,
                      fmt::format("{}: damaged: {}; analyze the measurements again", path_.string(), cause));
}

void SqliteFile::execute(const char* sql) const {
  if (sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

SqliteRows SqliteFile::prepare(const char* sql) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(connection_.get(), sql, -1, &statement, nullptr) != SQLITE_OK) fail();
  return {*this, statement};
}

void SqliteRows::bind(int parameter, uint64_t number) {
  sqlite3_bind_int64(statement_.get(), parameter + 1, static_cast<int64_t>(number));
}

void SqliteRows::bind(int parameter, double number) {
  sqlite3_bind_double(statement_.get(), parameter + 1, number);
}

void SqliteRows::bind(int parameter, std::string_view text) {
  const std::string valid = valid_utf8(text);
  sqlite3_bind_text(statement_.get(), parameter + 1, valid.data(), static_cast<int>(valid.size()),
                    SQLITE_TRANSIENT);
}

void SqliteRows::bind_null(int parameter) {
  sqlite3_bind_null(statement_.get(), parameter + 1);
}

bool SqliteRows::step() {
  const int status = sqlite3_step(statement_.get());
  if (status != SQLITE_ROW && status != SQLITE_DONE) file_->fail();
  return status == SQLITE_ROW;
}

void SqliteRows::execute() {
  step();
  sqlite3_reset(statement_.get());
}

bool SqliteRows::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

uint64_t SqliteRows::number(int column) const {
  return static_cast<uint64_t>(sqlite3_column_int64(statement_.get(), column));
}

double SqliteRows::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string SqliteRows::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return text == nullptr ? "" : valid_utf8(text);
}

}  // namespace prof
