#pragma once
// The variables of a module that have a fixed place, global and static ones: which one an address belongs to,
// and which field or element. From the debug information, else from the symbols, which know names and sizes
// alone.

#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/module_file.h"
#include "analysis/attribution/type_layout.h"
#include "analysis/attribution/type_tree.h"

namespace prof {

struct Variable {
  std::string name;      // with its scopes: "net::stats", "serve()::requests"
  uint64_t address = 0;  // as the ELF file states it
  uint64_t bytes = 0;
  std::string type;  // empty: known by its symbol alone
  std::string file;  // where it is declared; empty: not known
  uint32_t line = 0;
  SourceLanguage language = SourceLanguage::Other;  // Other: known by its symbol alone
};

class Variables {
 public:
  // Reads all. `file` must outlive the object, and not be reopened.
  explicit Variables(const ModuleFile& file);

  // nullptr: no variable is there.
  const Variable* find(uint64_t address) const;

  // Its innermost parts in [from, to), bytes from its begin; the whole where it has no type.
  std::vector<DataPart> parts(const Variable& variable, uint64_t from, uint64_t to) const;

  // What its type is made of; nothing where it has none, or another language than C and C++.
  std::optional<TypeTree> type_tree(const Variable& variable) const;

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Variable variable;
    std::optional<Dwarf_Die> type;
    bool is_mangled = false;  // its symbol's name is, which has all scopes
  };

  struct Unit;

  const Dwarf_Die* type_of_entry(const Variable& variable) const;
  void read_scope(Dwarf_Die parent, const std::string& scope, Unit& unit, int depth);
  void read_variable(Dwarf_Die die, const std::string& scope, Unit& unit);
  void add_symbols(const ModuleFile& file);
  void sort();

  std::vector<Entry> entries_;  // by address, without overlaps
};

}  // namespace prof
