#include "analysis/run/note.h"

namespace prof {

hpcrun::NoteKind note_kind_by_words(std::string_view text) {
  if (text.starts_with("Contention ")) return hpcrun::NoteKind::Contention;
  return text.starts_with("In traces, ") ? hpcrun::NoteKind::Traces : hpcrun::NoteKind::Run;
}

std::vector<std::string> sentences(const std::vector<Note>& notes) {
  std::vector<std::string> texts;
  for (const Note& note : notes) texts.push_back(note.text);
  return texts;
}

std::vector<std::string> sentences(const std::vector<Note>& notes, hpcrun::NoteKind kind) {
  std::vector<std::string> texts;
  for (const Note& note : notes)
    if (note.kind == kind) texts.push_back(note.text);
  return texts;
}

}  // namespace prof
