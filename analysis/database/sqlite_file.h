#pragma once
// An SQLite file beside a database's binary ones: written once from start to end, or read. Failures are
// DatabaseErrors that name the file and the remedy.

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace prof {

class SqliteFile;

// A statement with its parameters and columns, which are numbered from 0.
class SqliteRows {
 public:
  // All until the next execute() or step().
  void bind(int parameter, uint64_t number);
  void bind(int parameter, double number);
  void bind(int parameter, std::string_view text);  // what is not UTF-8 is replaced
  void bind_null(int parameter);

  // True where there is a row.
  bool step();
  // A statement without rows; its parameters are then free for the next ones.
  void execute();

  bool is_null(int column) const;
  uint64_t number(int column) const;
  double real(int column) const;
  std::string text(int column) const;

 private:
  friend class SqliteFile;
  SqliteRows(const SqliteFile& file, sqlite3_stmt* statement) : file_(&file), statement_(statement) {}

  struct Closer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  const SqliteFile* file_;
  std::unique_ptr<sqlite3_stmt, Closer> statement_;
};

class SqliteFile {
 public:
  enum class Mode : uint8_t { Write, Read };
  // A file to write is made, in a folder that nobody reads before it is complete: it has no journal, and what
  // is written counts with commit().
  SqliteFile(const std::filesystem::path& path, Mode mode);
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  void execute(const char* sql) const;
  SqliteRows prepare(const char* sql) const;  // which must not outlive this
  void commit() const { execute("COMMIT"); }

 private:
  friend class SqliteRows;
  [[noreturn]] void fail() const;

  struct Closer {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };
  std::filesystem::path path_;
  Mode mode_;
  std::unique_ptr<sqlite3, Closer> connection_;
};

}  // namespace prof
