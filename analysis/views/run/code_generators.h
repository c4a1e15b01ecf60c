#pragma once
// Runtimes that generate code while they run, with advice for getting names and complete stacks for it.

#include <string_view>

#include "analysis/database/model.h"

namespace prof {

struct CodeGenerator {
  std::string_view module;  // the start of the file name of the module that contains it
  std::string_view names;   // the advice for code without names
  std::string_view stacks;  // the advice for stacks that end in its code
};

// Returns the runtime whose code the database has samples of; general advice if none is known.
const CodeGenerator& code_generator(const Database& database);

}  // namespace prof
