#pragma once
// Runtimes that make code while they run, and what their users can do so that it has names and whole stacks.

#include <string_view>

#include "analysis/database/model.h"

namespace prof {

struct CodeGenerator {
  std::string_view module;  // how the file name of the module begins that it comes in
  std::string_view names;   // the advice for code without names
  std::string_view stacks;  // the advice for stacks that end in its code
};

// The one that the database has samples of; general advice if none is known.
const CodeGenerator& code_generator(const Database& database);

}  // namespace prof
