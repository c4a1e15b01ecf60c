#pragma once
// Attributes addresses in load modules to source, each once, in however many processes and threads it was
// sampled. Register the modules, request the addresses, attribute all of them, then look them up.

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/database/model.h"
#include "analysis/pipeline/pipeline.h"
#include "analysis/pipeline/place_table.h"
#include "analysis/workers/workers.h"

namespace prof {

enum class ModuleKind : uint8_t {
  File,
  Jit,      // code that no file backs; its addresses are absolute
  Device,   // addresses are numbers of names()
  Unknown,  // nothing is attributed: all addresses are in one function with the module's name
};

class ModulePlaces {
 public:
  // Returns a number for the module. The same file in several processes is one module, with the earliest
  // start.
  uint32_t module(ModuleKind kind, const ModuleIdentity& identity, const PerfMap& perf_map = {});

  // The names of what devices executed, by number.
  std::vector<std::string>& names() { return names_; }

  void need(uint32_t module, uint64_t address) { modules_[module].addresses.push_back(address); }
  // Removes duplicate addresses. Call it occasionally if there are many.
  void settle();

  // Serializes the modules and their requested addresses for another process.
  void give(Packer& out) const;
  // Adds modules that another process sent; must be called before attribute(). Returns their numbers here,
  // indexed by those there.
  std::vector<uint32_t> take(Unpacker& in);

  // Must be called once. Attributes all requested addresses on up to `jobs` threads of each
  // worker. Adds the places to `table`, and the modules, files and functions to the database. Their order
  // does not depend on the order of calls.
  void attribute(const AttributionOptions& options, int jobs, PlaceTable& table, Database& database,
                 std::vector<std::string>& warnings, const Progress& progress = {},
                 AnalysisWorkers& workers = AnalysisWorkers::alone());

  // The database's module of a place in a file's code, and the address in it.
  struct Code {
    uint32_t module;
    uint64_t offset;
  };
  std::optional<Code> code_at(PlaceId place) const;

  // Returns the place of an address that was requested before attribute(). Throws std::out_of_range if it was
  // not.
  PlaceId place(uint32_t module, uint64_t address) const;

 private:
  struct Module {
    ModuleKind kind;
    ModuleIdentity identity;
    PerfMap perf_map;                 // for Jit
    std::vector<uint64_t> addresses;  // the first `settled` are ascending and distinct
    size_t settled = 0;
    PlaceId first_place = 0;
    uint32_t database_module = 0;
  };

  static void settle(Module& module);
  AttributedModule attribute(const Module& module, const AttributionOptions& options) const;
  AttributedModule attribute_names(const std::vector<uint64_t>& numbers) const;
  void add(const Module& module, AttributedModule& attributed, PlaceTable& table, Database& database);

  std::vector<Module> modules_;
  std::vector<uint32_t> by_place_;  // attributed modules, by ascending first_place
  std::vector<std::string> names_;
  std::map<std::tuple<std::string, std::vector<uint8_t>, hpcrun::FileIdentity, std::string>, uint32_t>
      by_identity_;
  std::map<std::string, uint32_t> files_;
};

}  // namespace prof
