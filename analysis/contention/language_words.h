#pragma once
// Words for giving data cache lines of their own in each language.

#include <string>

#include "analysis/attribution/type_tree.h"

namespace prof {

// Returns what aligns a type: "alignas(64)". For languages without alignment, returns what pads it.
std::string alignment_of_type(SourceLanguage language);

// Returns what aligns the declaration of a variable or field: "_Alignas(64)". Empty if the language has
// nothing for that.
std::string alignment_of_declaration(SourceLanguage language);

// Returns "put alignas(64) before a and b", for variables or fields.
std::string align_both(SourceLanguage language, const std::string& left, const std::string& right);

// Returns "put alignas(64) before a, and nothing else after it on its line".
std::string align_alone(SourceLanguage language, const std::string& what);

// Returns "alignas(64) on the type of its elements". `declared`: where that is, such as " (stats.h:7)", or
// empty.
std::string align_elements(SourceLanguage language, const std::string& declared);

// Returns what gives each thread a copy of its own: "thread_local".
std::string copy_of_thread(SourceLanguage language);

}  // namespace prof
