#pragma once
// Interpreters: their samples are in functions of the interpreter and not in those of the script that it
// runs.

#include <string>

#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns the interpreter with most of the first metric's cost, if that is a share (0..1) of at least `least`
// and no function of a script is known.
struct InterpreterShare {
  std::string name;    // "python3.11"; empty if no interpreter was found
  std::string advice;  // how to show the functions of the script, or that they are not shown
  double cost = 0;     // in the interpreter's own code
};
InterpreterShare interpreter_share(const CallTree& tree, double least);

}  // namespace prof
