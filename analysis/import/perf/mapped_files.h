#pragma once
// The files that the recorded processes mapped, and what their code is in the database.

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
#include "analysis/pipeline/module_places.h"

namespace prof::perf {

class MappedFiles {
 public:
  struct Trust {
    bool open;  // files may be looked at
    bool here;  // recorded on this machine
  };
  struct Code {
    uint32_t module;   // of ModulePlaces
    uint64_t address;  // as the file states it; 0 where the file is not looked at
    bool operator==(const Code&) const = default;
  };

  // All must outlive this.
  MappedFiles(ModulePlaces& modules, const std::vector<BuildId>& build_ids, const ImportSource& source,
              Trust trust)
      : modules_(modules), build_ids_(build_ids), source_(source), trust_(trust) {}

  uint32_t number(const Mapping& mapping);
  Code code(const AddressSpace& space, int32_t pid, uint64_t address);
  bool is_unknown(const Code& code) const { return unknown_ && code == Code{*unknown_, 0}; }

  // For Unwinder; `self` is a MappedFiles.
  static UnwindModule unwind_module(const void* self, uint64_t start, const MappedPart& part);

 private:
  struct File {
    std::string path;
    uint32_t module = kNone;  // of modules_, once it is needed
    bool opened = false;      // it is a file that may be looked at here
    std::vector<uint8_t> build_id;
  };

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
