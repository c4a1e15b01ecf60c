#pragma once
// Converts recordings of other profilers to databases: perf.data files, collapsed stacks and pprof profiles
// (docs/import.md). Everything that shows databases can then show these. Files are untrusted: damaged parts
// are skipped and named in `warnings`. Only a file without any usable data is an error.

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
  // If true, opens the programs, libraries and kernel symbols that a recording names on this machine.
  // Otherwise code without a name in the recording gets its module's name.
  bool open_modules = true;
  int jobs = 1;
  AttributionOptions attribution;
};

// what() is one line: the file, the cause, and how to fix it.
class ImportError : public std::runtime_error {
 public:
  enum class Kind {
    CannotOpen,   // it does not exist, is not a file, or is not readable
    Unknown,      // not an importable format
    Unsupported,  // an importable format, with a part that is not supported
    Damaged,      // no usable data
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

// Imports from memory. `name` is for messages. The result does not refer to the bytes.
Import import_bytes(std::span<const uint8_t> bytes, const std::string& name,
                    const ImportOptions& options = {});

}  // namespace prof
