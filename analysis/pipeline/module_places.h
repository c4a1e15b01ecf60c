#pragma once
// Addresses in load modules, attributed to source once however many processes and threads they were seen in:
// name the modules, tell the addresses that are needed, attribute them all, then look them up.

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/database/model.h"
#include "analysis/pipeline/pipeline.h"
#include "analysis/pipeline/place_table.h"
#include "analysis/team/team.h"

namespace prof {

enum class ModuleKind : uint8_t {
  File,
  Jit,      // code that no file backs; its addresses are absolute
  Device,   // its addresses are numbers of names()
  Unknown,  // nothing is attributed: all addresses are in one function, which has the module's name
};

class ModulePlaces {
 public:
  // A number for the module. The same file in several processes is one module, and the earliest start counts.
  uint32_t module(ModuleKind kind, const ModuleIdentity& identity, const PerfMap& perf_map = {});

  // The names of what devices executed, by number.
  std::vector<std::string>& names() { return names_; }

  void need(uint32_t module, uint64_t address) { modules_[module].addresses.push_back(address); }
  // Drops repeated addresses; to be called now and then where there are many.
  void settle();

  // For another process: modules with the addresses that are needed.
  void give(Packer& out) const;
  // Takes in what another one gave, before attribute(); the numbers that its modules have here, by those that
  // they have there.
  std::vector<uint32_t> take(Unpacker& in);

  // Attributes all that is needed, on up to `jobs` threads of each process of `team`, adds the places to
  // `table`, and the modules, files and functions to the database, in an order that does not depend on that
  // of the calls.
  void attribute(const AttributionOptions& options, int jobs, PlaceTable& table, Database& database,
                 std::vector<std::string>& warnings, const Progress& progress = {},
                 Team& team = Team::alone());

  // What lies at a place, where that is in a file's code: the database's module, and the address in it.
  struct Code {
    uint32_t module;
    uint64_t offset;
  };
  std::optional<Code> code_at(PlaceId place) const;

  // Of an address that was needed before attribute(). Throws std::out_of_range where it was not.
  PlaceId place(uint32_t module, uint64_t address) const;

 private:
  struct Module {
    ModuleKind kind;
    ModuleIdentity identity;
    PerfMap perf_map;                 // for Jit
    std::vector<uint64_t> addresses;  // once settled ascending and distinct
    size_t settled = 0;               // how many of them are
    PlaceId first_place = 0;
    uint32_t database_module = 0;
  };

  static void settle(Module& module);
  AttributedModule attribute(const Module& module, const AttributionOptions& options) const;
  AttributedModule attribute_names(const std::vector<uint64_t>& numbers) const;
  void add(const Module& module, AttributedModule& attributed, PlaceTable& table, Database& database);

  std::vector<Module> modules_;
  std::vector<uint32_t> by_place_;  // modules that were attributed, by rising first_place
  std::vector<std::string> names_;
  std::map<std::tuple<std::string, std::vector<uint8_t>, hpcrun::FileIdentity, std::string>, uint32_t>
      by_identity_;
  std::map<std::string, uint32_t> files_;
};

}  // namespace prof
