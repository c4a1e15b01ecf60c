#pragma once
// The one way in which `prof` speaks to its user: lines on standard error that begin with "prof: ".

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace prof {

// What `prof` itself could not do (as env, nice and timeout have it); a measured program has its own
// statuses.
constexpr int kOwnFailure = 125;
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

// Ends the command with one line, or none where another process says it, and an exit status.
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

// Names come from files that anyone may have written. Control characters, those that reorder text (bidi), and
// what is not UTF-8 are shown as \x1b and \u202e, so that none reaches a terminal; line ends and tabs as
// blanks.
std::string printable(std::string_view text);
// The same, but line ends and tabs stay.
std::string printable_lines(std::string_view text);

// Says it, made printable, behind "prof: ". Standard error may be closed or full: that changes nothing.
void say_line(std::string_view line);

// Warnings and remarks, which --quiet leaves out; what failed is said by say_line() in any case.
void remark_line(std::string_view line);
void set_quiet(bool quiet);
bool is_quiet();

// The same as say_line() without the prefix: for a result such as a path.
void show_line(std::string_view line);

// Who speaks, where many `prof`s write to one terminal: "rank 7" stands behind "prof: " from then on.
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
