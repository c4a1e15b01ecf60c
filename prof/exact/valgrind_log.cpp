#include "prof/exact/valgrind_log.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <vector>

namespace prof {

namespace {

// Removes "==4711== " or "--4711-- ".
std::string_view without_prefix(std::string_view line) {
  const std::string_view mark = line.substr(0, 2);
  if (mark != "==" && mark != "--") return line;
  const size_t end = line.find(mark, 2);
  if (end == std::string_view::npos) return line;
  line.remove_prefix(end + 2);
  if (line.starts_with(' ')) line.remove_prefix(1);
  return line;
}

std::vector<std::string_view> lines_of(std::string_view log) {
  std::vector<std::string_view> lines;
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    lines.push_back(without_prefix(log.substr(0, end)));
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return lines;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The tool reports failures of system calls by number: "(error 28)".
std::string with_reason(std::string_view line) {
  constexpr std::string_view kError = "(error ";
  const size_t at = line.find(kError);
  int error = 0;
  if (at == std::string_view::npos) return std::string(line);
  std::from_chars(line.data() + at + kError.size(), line.data() + line.size(), error);
  return fmt::format("{}({})", line.substr(0, at), std::strerror(error));
}

struct Problem {
  std::string_view part;  // of a line of the log
  const char* meaning;    // a format of one argument, the line
};

// In order of preference.
constexpr Problem kProblems[] = {
    {"unhandled instruction bytes",
     "the program executed an instruction that Valgrind does not support and got SIGILL ({}); build it for a "
     "processor without AVX-512, for example with -march=x86-64-v3"},
    {"signal 4 (SIGILL)",
     "the program got SIGILL: {}; Valgrind does not support all instructions, such as AVX-512; build it with "
     "-march=x86-64-v3 if it works without Valgrind"},
    {"Out of memory", "{}; the tool needs about 4 bytes for each byte that the program stores to or loads"},
    {"cannot reserve",
     "{}; raise the limit with `ulimit -v unlimited`, or allow overcommitting memory "
     "(sysctl vm.overcommit_memory=0)"},
    {"profexact: ", "{}"},
};

// Valgrind gives up while it reads debug information.
constexpr std::string_view kDwarfReaders[] = {"readdwarf", "unhandled dwarf2", "ensure_valid", "DWARF"};

bool is_abort(std::string_view line) {
  return has(line, "the 'impossible' happened") || has(line, "Valgrind internal error") ||
         has(line, "Assertion") || has(line, "Cannot continue");
}

std::optional<std::string> abort_in(const std::vector<std::string_view>& lines) {
  std::string_view abort;
  bool in_debug_information = false;
  for (const std::string_view line : lines) {
    if (abort.empty() && is_abort(line)) abort = line;
    for (const std::string_view reader : kDwarfReaders) in_debug_information |= has(line, reader);
  }
  if (abort.empty()) return std::nullopt;
  if (in_debug_information)
    return fmt::format(
        "Valgrind 3.19 cannot read the program's debug information, as DWARF 5 of clang ({}); "
        "build with -gdwarf-4, or run a copy without it (strip --strip-debug)",
        abort);
  return fmt::format("Valgrind failed: {}", abort);
}

}  // namespace

std::optional<std::string> problem_in_valgrind_log(std::string_view log) {
  const std::vector<std::string_view> lines = lines_of(log);
  if (std::optional<std::string> abort = abort_in(lines)) return abort;
  for (const Problem& problem : kProblems)
    for (const std::string_view line : lines)
      if (has(line, problem.part)) return fmt::format(fmt::runtime(problem.meaning), with_reason(line));
  for (const std::string_view line : lines)
    if (line.starts_with("valgrind: ")) return std::string(line);
  return std::nullopt;
}

}  // namespace prof
