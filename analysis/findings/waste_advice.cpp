// What to change about wasted stores and loads, by their cause.

#include <fmt/format.h>

#include "analysis/findings/memory_waste.h"
#include "analysis/views/run/waste_pattern.h"
#include "analysis/views/tree/format_code.h"

namespace prof {
namespace {

std::string without_clearing(const std::string& first, const std::string& second, bool is_one_place) {
  return is_one_place
             ? fmt::format("Clear the memory in {} only once.", first)
             : fmt::format("Remove the clearing in {}, or clear only what {} does not fill.", first, second);
}

std::string by_other_cause(hpcrun::WasteKind kind, const std::string& first) {
  return kind == hpcrun::WasteKind::DeadStore
             ? fmt::format("Store in {} only values that are read: move the store to the path that needs it.",
                           first)
             : fmt::format("Keep the value that {} used, instead of accessing memory again.", first);
}

}  // namespace

std::string memory_waste_advice(const CallTree& tree, const WastePair& pair) {
  const WastePaths paths = paths_of(tree, pair);
  const std::string first = format_code(paths.first), second = format_code(paths.second);
  switch (pattern_of(pair, paths)) {
    case WastePattern::ClearThenFill:
      return without_clearing(first, second, is_one_line(paths));
    case WastePattern::SparseInitialization:
      return fmt::format(
          "Initialize in {} only the elements that were used since the last time, for example by keeping a "
          "list of them, or use a sparse container.",
          second);
    case WastePattern::OversizedClear:
      return fmt::format("Clear in {} only the part of the buffer that is used, not the whole buffer.",
                         first);
    case WastePattern::ConstructThenAssign:
      return fmt::format(
          "Construct the object with its final value: use the constructor's initializer list, or for "
          "elements "
          "of a container reserve() and emplace_back(), instead of the assignment in {}.",
          second);
    case WastePattern::RegisterSpill:
      return fmt::format(
          "The compiler moved a local variable to the stack: compile {} with optimization, use fewer "
          "variables in the loop, or split the loop.",
          format_function(paths.first));
    case WastePattern::RepeatedStore:
      return fmt::format(
          "Keep the value in a local variable in {}, and store it once. If the compiler cannot do so because "
          "pointers may alias, declare them restrict.",
          format_function(paths.first));
    case WastePattern::UnusedLocal:
      return fmt::format("Initialize the local data in {} only on the path that uses it.", first);
    case WastePattern::SameValue:
      return fmt::format("Skip the work that leads to the same value, or compare in {} before the store.",
                         second);
    case WastePattern::InvariantLoad:
      return fmt::format(
          "Load the value once, before the loop in {}, into a local variable. The compiler cannot do so if a "
          "store in the loop may change it: declare the pointers restrict.",
          format_function(paths.second));
    case WastePattern::RepeatedLoad:
      return fmt::format("Pass the value that {} has loaded on to {}, or inline one into the other.", first,
                         format_function(paths.second));
    case WastePattern::Other:
      break;
  }
  return by_other_cause(pair.kind, first);
}

}  // namespace prof
