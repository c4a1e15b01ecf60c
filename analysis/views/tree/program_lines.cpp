#include "analysis/views/tree/program_lines.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/attribution/own_runtime.h"
#include "analysis/views/tree/wording.h"

namespace prof {
namespace {

bool is_system_file(std::string_view path) {
  return path.starts_with("/usr/include/") || path.starts_with("/usr/lib/") || path.starts_with("./") ||
         path.starts_with("../sysdeps/");
}

// Functions of the standard library that compilers put into the program's own module.
bool is_standard_library_name(std::string_view name) {
  const size_t parameters = name.find('(');
  const size_t result = name.rfind(' ', parameters);  // for templates: "void std::sort<...>(...)"
  if (result != std::string_view::npos && name.substr(0, result).find('<') == std::string_view::npos)
    name.remove_prefix(result + 1);
  return name.starts_with("std::") || name.starts_with("__gnu_cxx::") || name.starts_with("core::") ||
         name.starts_with("alloc::");
}

class ChargedLines {
 public:
  explicit ChargedLines(const CallTree& tree)
      : tree_(tree), database_(*tree.database), line_of_(database_.contexts.size(), kNone) {
    for (const LoadModule& module : database_.modules) {
      of_system_.push_back(is_system_path(module.path));
      of_runtime_.push_back(is_own_runtime(module.path));
    }
    for (const SourceFile& file : database_.files) file_of_system_.push_back(is_system_file(file.path));
    for (uint32_t c = 0; c < line_of_.size(); ++c) charge(c);
    name_calls();
  }

  std::vector<ProgramLine>& lines() { return lines_; }
  const std::vector<uint32_t>& line_of() const { return line_of_; }

 private:
  void charge(uint32_t c) {
    const Context& context = database_.contexts[c];
    const uint32_t above = context.parent == kNone ? kNone : line_of_[context.parent];
    const Cost cost = tree_.by_context[0][c];
    line_of_[c] = own_line(c, context, above);
    if (line_of_[c] != above && above != kNone) lines_[above].cost -= cost.inclusive;
    if (line_of_[c] == kNone) return;
    ProgramLine& line = lines_[line_of_[c]];
    if (line_of_[c] != above) {
      line.cost += cost.inclusive;
      if (cost.inclusive > heaviest_[line_of_[c]]) {
        heaviest_[line_of_[c]] = cost.inclusive;
        line.context = c;
      }
    }
    if (location_of(context).known() && location_of(context) == line.location && !is_repeated(c))
      line.own += cost.exclusive;
  }

  // True for a line inside a context of the same line, such as an instruction's: the outer one has the cost.
  bool is_repeated(uint32_t c) const {
    const uint32_t parent = database_.contexts[c].parent;
    return parent != kNone && !starts_frame(database_.contexts[c]) &&
           location_of(database_.contexts[parent]) == location_of(database_.contexts[c]);
  }

  uint32_t own_line(uint32_t c, const Context& context, uint32_t above) {
    const uint32_t frame = tree_.nodes[tree_.node_of[c]].frame;
    const Frame& function = tree_.frames[frame];
    if (function.module >= of_system_.size()) return above;
    if (of_runtime_[function.module]) return kNone;  // the cost of measuring is not a cost of the program
    if (of_system_[function.module]) return above;
    const SourceLocation location = location_of(context);
    if (location.known()) return file_of_system_[location.file] ? above : number_of(frame, location);
    // Instructions and loops are in the line or function around them.
    if (!starts_frame(context)) return above;
    const SourceLocation defined = definition(function);
    if (defined.known()) return above;  // Its lines are charged, one by one.
    if (function.kind == FrameKind::Entry) return above;
    const std::string name = frame_name(database_, function);
    return is_standard_library_name(name) || is_start_code(name) ? above : number_of(frame, {});
  }

  uint32_t number_of(uint32_t frame, const SourceLocation& location) {
    const auto [at, is_new] =
        numbers_.try_emplace({frame, location.file, location.line}, static_cast<uint32_t>(lines_.size()));
    if (is_new) {
      lines_.push_back({.frame = frame, .location = location});
      heaviest_.push_back(-1);
    }
    return at->second;
  }

  // Finds the library function that each line calls directly.
  void name_calls() {
    std::map<std::pair<uint32_t, uint32_t>, double> calls;
    for (uint32_t c = 0; c < line_of_.size(); ++c) {
      const Context& context = database_.contexts[c];
      const uint32_t line = line_of_[c];
      if (line == kNone || !starts_frame(context) || context.parent == kNone) continue;
      if (line_of_[context.parent] != line) continue;
      const uint32_t frame = tree_.nodes[tree_.node_of[c]].frame,
                     caller = tree_.nodes[tree_.node_of[context.parent]].frame;
      if (caller != lines_[line].frame || !is_library_code(database_, tree_.frames[frame])) continue;
      calls[{line, frame}] += tree_.by_context[0][c].inclusive;
    }
    for (const auto& [key, cost] : calls) {
      ProgramLine& line = lines_[key.first];
      if (cost <= line.call_cost) continue;
      line.call = key.second;
      line.call_cost = cost;
    }
  }

  const CallTree& tree_;
  const Database& database_;
  std::vector<bool> of_system_, of_runtime_, file_of_system_;
  std::vector<uint32_t> line_of_;  // per context
  std::vector<ProgramLine> lines_;
  std::vector<double> heaviest_;  // per line: the cost of its most expensive context
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> numbers_;
};

bool is_same_line(const ProgramLine& a, const ProgramLine& b) {
  return a.frame == b.frame && a.location == b.location;
}

}  // namespace

bool is_system_path(std::string_view module) {
  return module.starts_with("/lib") || module.starts_with("/usr/lib") || module.starts_with('[') ||
         is_own_runtime(module);
}

bool is_system_module(const Database& database, uint32_t module) {
  return module < database.modules.size() && is_system_path(database.modules[module].path);
}

std::vector<bool> stripped_modules(const Database& database) {
  std::vector<bool> stripped(database.modules.size());
  for (uint32_t module = 0; module < stripped.size(); ++module)
    stripped[module] = !is_system_module(database, module);
  for (uint32_t f = 0; f < database.functions.size(); ++f) {
    const Function& function = database.functions[f];
    if (function.module < stripped.size() && stripped[function.module] &&
        has_symbol(database,
                   {FrameKind::Function, f, function.module, function.offset, function.file, function.line}))
      stripped[function.module] = false;
  }
  return stripped;
}

bool is_library_code(const Database& database, const Frame& frame) {
  if (is_system_module(database, frame.module)) return true;
  if (frame.file < database.files.size()) return is_system_file(database.files[frame.file].path);
  return frame.kind == FrameKind::Function && is_standard_library_name(frame_name(database, frame));
}

bool is_start_code(std::string_view name) {
  constexpr std::string_view kNames[] = {"_start",  "start_thread", "clone",         "clone3",
                                         "__clone", "__clone3",     "__GI___clone3", "__clone_internal"};
  return name.starts_with("__libc_start") || std::ranges::find(kNames, name) != std::end(kNames);
}

std::vector<ProgramLine> program_lines(const CallTree& tree, size_t limit) {
  if (tree.metrics() == 0) return {};
  ChargedLines charged(tree);
  std::vector<ProgramLine> lines = std::move(charged.lines());
  std::erase_if(lines, [](const ProgramLine& line) { return line.cost <= 0; });
  std::stable_sort(lines.begin(), lines.end(),
                   [](const ProgramLine& a, const ProgramLine& b) { return a.cost > b.cost; });
  if (lines.size() > limit) lines.resize(limit);
  return lines;
}

std::vector<uint32_t> charged_lines(const CallTree& tree, const std::vector<ProgramLine>& lines) {
  if (tree.metrics() == 0) return std::vector<uint32_t>(tree.node_of.size(), kNone);
  ChargedLines charged(tree);
  std::vector<uint32_t> position(charged.lines().size(), kNone), result;
  for (size_t n = 0; n < position.size(); ++n) {
    const auto at = std::ranges::find_if(
        lines, [&](const ProgramLine& line) { return is_same_line(line, charged.lines()[n]); });
    if (at != lines.end()) position[n] = static_cast<uint32_t>(at - lines.begin());
  }
  for (const uint32_t line : charged.line_of()) result.push_back(line == kNone ? kNone : position[line]);
  return result;
}

}  // namespace prof
