#pragma once
// Lines for the user, collected by code that prints nothing. Code that makes decisions stays free of output,
// and its tests can read the lines.

#include <string>
#include <utility>
#include <vector>

#include "prof/base/message.h"

namespace prof {

struct Note {
  std::string line;
  bool is_remark = false;  // omitted by --quiet
};

class Notes {
 public:
  // As say() and remark() of message.h, but printed later.
  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    notes_.push_back({fmt::format(format, std::forward<Args>(args)...), false});
  }
  template <typename... Args>
  void remark(fmt::format_string<Args...> format, Args&&... args) {
    notes_.push_back({fmt::format(format, std::forward<Args>(args)...), true});
  }

  const std::vector<Note>& all() const { return notes_; }

  // Prints the lines in the order in which they were added.
  void print() const {
    for (const Note& note : notes_) note.is_remark ? remark_line(note.line) : say_line(note.line);
  }

 private:
  std::vector<Note> notes_;
};

}  // namespace prof
