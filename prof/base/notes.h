#pragma once
// Lines for the user, collected by code that prints nothing. Code that makes decisions stays free of output,
// and its tests can read the lines.

#include <string>
#include <utility>
#include <vector>

#include "prof/base/message.h"

namespace prof {

class Notes {
 public:
  struct Line {
    std::string text;
    bool is_remark = false;  // omitted by --quiet
  };

  // As say() and remark() of message.h, but printed later.
  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    lines_.push_back({fmt::format(format, std::forward<Args>(args)...), false});
  }
  template <typename... Args>
  void remark(fmt::format_string<Args...> format, Args&&... args) {
    lines_.push_back({fmt::format(format, std::forward<Args>(args)...), true});
  }

  const std::vector<Line>& all() const { return lines_; }

  // Prints the lines in the order in which they were added.
  void print() const {
    for (const Line& line : lines_) line.is_remark ? remark_line(line.text) : say_line(line.text);
  }

 private:
  std::vector<Line> lines_;
};

}  // namespace prof
