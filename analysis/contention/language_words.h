#pragma once
// How the source of each language gives data cache lines of their own.

#include <string>

#include "analysis/attribution/type_tree.h"

namespace prof {

// What aligns a type: "alignas(64)". Of languages that have no alignment what pads it.
std::string alignment_of_type(SourceLanguage language);

// What aligns a declaration, of a variable or a field: "_Alignas(64)". Empty where the language has nothing.
std::string alignment_of_declaration(SourceLanguage language);

// "put alignas(64) before a and b", for variables or fields.
std::string align_both(SourceLanguage language, const std::string& left, const std::string& right);

// "put alignas(64) before a, and nothing else after it on its line"
std::string align_alone(SourceLanguage language, const std::string& what);

// "alignas(64) on the type of its elements"; `declared`: " (stats.h:7)", where that is, or empty.
std::string align_elements(SourceLanguage language, const std::string& declared);

// How each thread gets a copy of its own: "thread_local".
std::string copy_of_thread(SourceLanguage language);

}  // namespace prof
