#pragma once
// Names functions without a linkage name in the debug information, that is, those of internal linkage
// (static, in unnamed namespaces, lambdas), by the scopes around their declaration.

#include <elfutils/libdw.h>

#include <string>
#include <unordered_map>

namespace prof {

class QualifiedNames {
 public:
  // Returns "space::Class::function", without parameters; "main::{lambda}::operator()". `declaration`: the
  // DIE inside its scope. In languages without nested names, returns only the function's own name;
  // "<unnamed>" if it has none.
  std::string name(Dwarf_Die declaration);

  // Must be called before the Dwarf that the DIEs are from is closed.
  void clear() { units_.clear(); }

 private:
  struct Unit {
    bool outer_read = false;                              // scopes of namespaces and types
    bool bodies_read = false;                             // and those of types inside functions
    std::unordered_map<const void*, std::string> scopes;  // of function DIEs
  };

  static void read(Dwarf_Die parent, const std::string& scope, bool bodies, Unit& unit);

  std::unordered_map<const void*, Unit> units_;  // by the address of the unit's DIE
};

}  // namespace prof
