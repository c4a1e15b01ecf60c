#pragma once
// Programs and libraries of which all code is annotated (repair/isolate/pass/regions.h).

#include <filesystem>
#include <string>

namespace prof {

enum class Annotation : uint8_t {
  None,     // no code of it is, or the file is no program or library for this machine
  Unknown,  // it has no symbols to judge by
  Partial,  // some of its functions are not
  Complete,
};

struct AnnotationFound {
  Annotation annotation = Annotation::None;
  std::string function;  // Partial: one that is not annotated
  uint64_t mark_at = 0;  // where in the file the note's `complete` is
};

// Judged by the symbols: functions that come from objects of the compiler and the C library that are part of
// every program, and have no atomic operations, are left out.
AnnotationFound annotation_of(const std::filesystem::path& file);

// Sets the mark by which the runtime knows the module where all of it is annotated. A file that is none, or
// cannot be written, stays as it is: its atomic operations are looked after as those of any other.
void mark_if_annotated(const std::filesystem::path& file);

}  // namespace prof
