#pragma once
// Notes on a run: what worked less well than on another machine or with other permissions, and what each
// concerns.

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

// Returns the kind of a sentence from a file or database of an older version, which did not record kinds.
hpcrun::NoteKind note_kind_by_words(std::string_view text);

// Return the texts of all notes, and of those of one kind.
std::vector<std::string> sentences(const std::vector<Note>& notes);
std::vector<std::string> sentences(const std::vector<Note>& notes, hpcrun::NoteKind kind);

}  // namespace prof
