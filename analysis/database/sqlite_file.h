#pragma once
// An SQLite file of a database: written once from start to end, or read. Errors are thrown as DatabaseErrors
// that name the file and how to fix it.

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
  // Bind a parameter until the next execute() or step().
  void bind(int parameter, uint64_t number);
  void bind(int parameter, double number);
  void bind(int parameter, std::string_view text);  // malformed UTF-8 is replaced
  void bind_null(int parameter);

  // Returns true if there is a row.
  bool step();
  // Executes a statement without rows. Its parameters can then be bound again.
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
  // In mode Write, creates the file, in a folder that nothing reads before it is complete. Therefore it has
  // no journal. Writes take effect with commit().
  SqliteFile(const std::filesystem::path& path, Mode mode);
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  void execute(const char* sql) const;
  SqliteRows prepare(const char* sql) const;  // must not outlive this object
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
