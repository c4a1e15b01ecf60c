#pragma once
// Reads type trees from debug information.

#include <elfutils/libdw.h>

#include <optional>

#include "analysis/attribution/type_tree.h"

namespace prof {

constexpr size_t kMaxTypes = 4096;  // per tree; types beyond are treated as plain

// Returns nullopt for languages other than C and C++, and for types without a size. The Dwarf must be open.
std::optional<TypeTree> read_type_tree(Dwarf_Die type);

}  // namespace prof
