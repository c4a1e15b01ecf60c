#pragma once
// What worked less well than it can on another machine or with other permissions, and what it is about.

#include <string>
#include <string_view>
#include <vector>

#include "hpcrun/measurement/format.h"

namespace prof {

struct Note {
  hpcrun::NoteKind kind = hpcrun::NoteKind::Run;
  std::string text;  // a sentence

  bool operator==(const Note&) const = default;
};

// What a note is about of which that is not recorded: files and databases of older versions have sentences
// alone.
hpcrun::NoteKind note_kind_by_words(std::string_view text);

// Of the kind, or of all kinds.
std::vector<std::string> sentences(const std::vector<Note>& notes);
std::vector<std::string> sentences(const std::vector<Note>& notes, hpcrun::NoteKind kind);

}  // namespace prof
