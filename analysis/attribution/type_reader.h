#pragma once
// Types of debug information as type trees.

#include <elfutils/libdw.h>

#include <optional>

#include "analysis/attribution/type_tree.h"

namespace prof {

constexpr size_t kMostTypes = 4096;  // of a tree; what is beyond is not looked into

// Nothing for other languages than C and C++, and for types without a size. The Dwarf must be open.
std::optional<TypeTree> read_type_tree(Dwarf_Die type);

}  // namespace prof
