#pragma once
// The files that the recorded processes mapped, and their code in the database.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/import/formats.h"
#include "analysis/import/perf/address_space.h"
#include "analysis/import/perf/recording.h"
#include "analysis/import/perf/unwinder.h"
#include "analysis/import/segments.h"
#include "analysis/pipeline/contention.h"
#include "analysis/pipeline/module_places.h"

namespace prof::perf {

class MappedFiles {
 public:
  struct Trust {
    bool open;  // files may be opened
    bool here;  // recorded on this machine
  };
  struct Code {
    uint32_t module;   // of ModulePlaces
    uint64_t address;  // as in the file; 0 if the file is not opened
    bool operator==(const Code&) const = default;
  };

  // All arguments must outlive the object.
  MappedFiles(ModulePlaces& modules, const std::vector<BuildId>& build_ids, const ImportSource& source,
              Trust trust)
      : modules_(modules), build_ids_(build_ids), source_(source), trust_(trust) {}

  uint32_t number(const Mapping& mapping);
  Code code(const AddressSpace& space, int32_t pid, uint64_t address);
  // The same for code in a file on this machine; the path is empty if it is not in one.
  struct CodeInFile {
    ModuleIdentity module;
    uint64_t address = 0;
  };
  CodeInFile code_in_file(const AddressSpace& space, uint64_t address) const;
  // Returns the programs and libraries in the address space that exist on this machine.
  std::vector<ModuleInMemory> modules(const AddressSpace& space) const;

  bool is_unknown(const Code& code) const { return unknown_ && code == Code{*unknown_, 0}; }

  // For Unwinder; `self` is a MappedFiles.
  static UnwindModule unwind_module(const void* self, uint64_t start, const MappedPart& part);

 private:
  struct File {
    std::string path;
    uint32_t module = kNone;  // of modules_, once it is needed
    bool opened = false;      // a file that may be opened here
    std::vector<uint8_t> build_id;

    bool has_code_here() const { return opened && !path.starts_with('['); }
  };

  ModuleIdentity identity_of(const File& file) const {
    return {file.path, file.build_id, source_.written_ns};
  }
  uint32_t module_of(File& file, int32_t pid);
  uint32_t generated_code(int32_t pid);

  ModulePlaces& modules_;
  const std::vector<BuildId>& build_ids_;
  const ImportSource& source_;
  Trust trust_;
  std::vector<File> files_;
  std::map<std::pair<std::string, std::vector<uint8_t>>, uint32_t> numbers_;
  mutable Segments segments_;
  std::optional<uint32_t> unknown_;
  std::map<int32_t, uint32_t> generated_;  // by process
};

}  // namespace prof::perf
