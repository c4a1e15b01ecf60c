#pragma once
// Messages of `prof` to its user: lines on standard error that begin with "prof: ". Nothing else prints them.

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace prof {

// Exit statuses for failures of `prof` itself, as env, nice and timeout use them. A measured program has
// statuses of its own.
constexpr int kOwnFailure = 125;
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

// Ends the command with an exit status and one line, or no line if another process prints it.
class CommandError : public std::runtime_error {
 public:
  CommandError(int status, const std::string& line) : std::runtime_error(line), status_(status) {}
  int status() const noexcept { return status_; }

 private:
  int status_;
};

template <typename... Args>
[[noreturn]] void fail(int status, fmt::format_string<Args...> format, Args&&... args) {
  throw CommandError(status, fmt::format(format, std::forward<Args>(args)...));
}

// Returns the text in printable form. Names come from files that anyone may have written. Control characters,
// characters that reorder text (bidi), and bytes that are not UTF-8 become \x1b and \u202e, so that none
// reaches a terminal. Newlines and tabs become blanks.
std::string printable(std::string_view text);
// The same, but newlines and tabs stay.
std::string printable_lines(std::string_view text);

// Prints the line, made printable, after "prof: ". A closed or full standard error is ignored.
void say_line(std::string_view line);

// Prints a warning or remark, which --quiet omits. Failures use say_line(), which prints in any case.
void remark_line(std::string_view line);
void set_quiet(bool quiet);
bool is_quiet();

// Prints like say_line(), but without the prefix: for a result such as a path.
void show_line(std::string_view line);

// Names the speaker if many `prof`s write to one terminal: "rank 7" follows "prof: " from then on.
void speak_as(std::string_view speaker);

template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  say_line(fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void remark(fmt::format_string<Args...> format, Args&&... args) {
  remark_line(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace prof
