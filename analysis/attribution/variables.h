#pragma once
// The variables of a module that have a fixed address, global and static ones. Finds the variable at an
// address, and the field or element. Reads the debug information; without it the symbols, which only have
// names and sizes.

#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/module_file.h"
#include "analysis/attribution/type_layout.h"
#include "analysis/attribution/type_tree.h"

namespace prof {

struct Variable {
  std::string name;      // with its scopes: "net::stats", "serve()::requests"
  uint64_t address = 0;  // as in the ELF file
  uint64_t bytes = 0;
  std::string type;  // empty if known by its symbol alone
  std::string file;  // its declaration; empty if unknown
  uint32_t line = 0;
  SourceLanguage language = SourceLanguage::Other;  // Other if known by its symbol alone
};

class Variables {
 public:
  // Reads all variables. `file` must outlive the object, and must not be reopened.
  explicit Variables(const ModuleFile& file);

  // Returns nullptr if there is no variable.
  const Variable* find(uint64_t address) const;

  // Returns the innermost parts of the variable in [from, to), in bytes from its start; the whole variable if
  // its type is unknown.
  std::vector<DataPart> parts(const Variable& variable, uint64_t from, uint64_t to) const;

  // Returns the structure of its type; nullopt if the type is unknown or the language is neither C nor C++.
  std::optional<TypeTree> type_tree(const Variable& variable) const;

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Variable variable;
    std::optional<Dwarf_Die> type;
    bool is_mangled = false;  // its symbol's name is mangled and therefore has all scopes
  };

  struct Unit;

  const Dwarf_Die* type_of_entry(const Variable& variable) const;
  void read_scope(Dwarf_Die parent, const std::string& scope, Unit& unit, int depth);
  void read_variable(Dwarf_Die die, const std::string& scope, Unit& unit);
  void add_symbols(const ModuleFile& file);
  void sort();

  std::vector<Entry> entries_;  // sorted by address, without overlaps
};

}  // namespace prof
