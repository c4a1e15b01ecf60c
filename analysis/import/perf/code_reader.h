#pragma once
// Reads instructions of programs and libraries on this machine, for samples with an exact address. Reads
// nothing from a file that differs from the recorded one.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/attribution/module_file.h"
#include "hpcrun/model/instruction.h"

namespace prof::perf {

class CodeReader {
 public:
  explicit CodeReader(const AttributionOptions& options) : options_(options) {}  // must outlive it
  CodeReader(const CodeReader&) = delete;

  // `address`: as in the file. Returns nullptr if there is no instruction or the file is not available. The
  // result is valid until the next call.
  const hpcrun::Instruction* instruction(const ModuleIdentity& module, uint64_t address);

 private:
  struct Segment {
    uint64_t address;
    const uint8_t* bytes;
    uint64_t size;
  };
  struct File {
    ModuleFile file;
    std::vector<Segment> code;
    std::unordered_map<uint64_t, std::optional<hpcrun::Instruction>> decoded;
  };

  static std::vector<Segment> code_of(Elf* elf);
  File& file_of(const ModuleIdentity& module);

  const AttributionOptions& options_;
  std::map<std::pair<std::string, std::vector<uint8_t>>, std::unique_ptr<File>> files_;
};

}  // namespace prof::perf
