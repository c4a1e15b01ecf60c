#pragma once
// Recordings of other profilers as a database: perf.data files, collapsed stacks and pprof profiles
// (docs/import.md). Everything that shows databases then shows these. Nothing in a file is believed: what is
// damaged is left out and named in `warnings`, and only a file in which nothing can be found is an error.

#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/database/model.h"

namespace prof {

enum class ImportFormat : uint8_t { Recognise, Perf, Collapsed, Pprof };

struct ImportOptions {
  ImportFormat format = ImportFormat::Recognise;  // by the contents
  // Whether the programs, libraries and kernel symbols that a recording names are opened on this machine.
  // Where they are not, code without a name in the recording itself gets that of its module.
  bool open_modules = true;
  int jobs = 1;
  AttributionOptions attribution;
};

// what() is one line: the file, the cause, the remedy.
class ImportError : public std::runtime_error {
 public:
  enum class Kind {
    CannotOpen,   // it is not there, no file, or not readable
    Unknown,      // no format that is imported
    Unsupported,  // such a format, but a part of it that is not imported
    Damaged,      // nothing in it can be used
  };
  ImportError(Kind kind, const std::string& line) : std::runtime_error(line), kind_(kind) {}
  Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

struct Import {
  Database database;
  std::vector<std::string> warnings;  // one line each
};

// `file` may be "-" for standard input. Throws ImportError.
Import import_file(const std::filesystem::path& file, const ImportOptions& options = {});

// The same of bytes in memory; `name` is for messages. Traces of the result do not refer to the bytes.
Import import_bytes(std::span<const uint8_t> bytes, const std::string& name,
                    const ImportOptions& options = {});

}  // namespace prof
