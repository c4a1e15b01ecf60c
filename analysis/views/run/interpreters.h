#pragma once
// Interpreters, whose samples lie in functions of their own and not in those of the script that they run.

#include <string>

#include "analysis/views/tree/call_tree.h"

namespace prof {

// The interpreter in which most of the first metric's cost lies, where that is a share (0..1) of at least
// `least` and no function of a script is known.
struct InterpreterShare {
  std::string name;    // "python3.11"; empty: there is none
  std::string advice;  // how to see the functions of the script, or that they are not shown
  double cost = 0;     // in the interpreter's own code
};
InterpreterShare interpreter_share(const CallTree& tree, double least);

}  // namespace prof
