#pragma once
// Lines for the user that are collected where nothing is printed, so that code which decides stays free of
// output and its tests can read them.

#include <string>
#include <utility>
#include <vector>

#include "prof/base/message.h"

namespace prof {

struct Note {
  std::string line;
  bool is_remark = false;  // left out by --quiet
};

class Notes {
 public:
  // As say() and remark() of message.h, later.
  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    notes_.push_back({fmt::format(format, std::forward<Args>(args)...), false});
  }
  template <typename... Args>
  void remark(fmt::format_string<Args...> format, Args&&... args) {
    notes_.push_back({fmt::format(format, std::forward<Args>(args)...), true});
  }

  const std::vector<Note>& all() const { return notes_; }

  // Prints them in the order in which they were added.
  void print() const {
    for (const Note& note : notes_) note.is_remark ? remark_line(note.line) : say_line(note.line);
  }

 private:
  std::vector<Note> notes_;
};

}  // namespace prof
