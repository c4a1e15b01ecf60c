#include "analysis/attribution/qualified_names.h"

#include <dwarf.h>

#include <string_view>

#include "analysis/attribution/dwarf_types.h"

namespace prof {
namespace {

bool nests_names(Dwarf_Die& unit) {
  const SourceLanguage language = source_language(unit);
  return language == SourceLanguage::Cpp || language == SourceLanguage::Rust ||
         dwarf_srclang(&unit) == DW_LANG_D;
}

// True if an unnamed type can be called.
bool is_lambda(Dwarf_Die& type) {
  Dwarf_Die child;
  if (dwarf_child(&type, &child) != 0) return false;
  do {
    const char* const name = dwarf_diename(&child);
    if (name != nullptr && std::string_view(name) == "operator()") return true;
  } while (dwarf_siblingof(&child, &child) == 0);
  return false;
}

std::string scope_within(const std::string& outer, Dwarf_Die& die) {
  const char* name = dwarf_diename(&die);
  if (name == nullptr && dwarf_tag(&die) == DW_TAG_namespace) name = "(anonymous namespace)";
  if (name == nullptr) name = is_lambda(die) ? "{lambda}" : "(unnamed type)";
  return outer + name + "::";
}

}  // namespace

void QualifiedNames::read(Dwarf_Die parent, const std::string& scope, bool bodies, Unit& unit) {
  Dwarf_Die child;
  if (dwarf_child(&parent, &child) != 0) return;
  do {
    switch (dwarf_tag(&child)) {
      case DW_TAG_subprogram:
        if (!scope.empty()) unit.scopes.try_emplace(child.addr, scope);
        if (bodies) read(child, scope_within(scope, child), bodies, unit);
        break;
      case DW_TAG_lexical_block:
        if (bodies) read(child, scope, bodies, unit);
        break;
      case DW_TAG_namespace:
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type:
      case DW_TAG_enumeration_type:
        if (dwarf_haschildren(&child) != 0) read(child, scope_within(scope, child), bodies, unit);
        break;
      default:
        break;
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

std::string QualifiedNames::name(Dwarf_Die declaration) {
  const char* const plain = dwarf_diename(&declaration);
  const std::string own = plain == nullptr ? "<unnamed>" : plain;
  Dwarf_Die unit_die;
  if (dwarf_diecu(&declaration, &unit_die, nullptr, nullptr) == nullptr || !nests_names(unit_die)) return own;

  Unit& unit = units_[unit_die.addr];
  if (!unit.outer_read) {
    read(unit_die, "", false, unit);
    unit.outer_read = true;
  }
  auto scope = unit.scopes.find(declaration.addr);
  if (scope == unit.scopes.end() && !unit.bodies_read) {
    read(unit_die, "", true, unit);
    unit.bodies_read = true;
    scope = unit.scopes.find(declaration.addr);
  }
  return scope == unit.scopes.end() ? own : scope->second + own;
}

}  // namespace prof
