#pragma once
// Finds programs and libraries in which all code is annotated (repair/isolate/pass/regions.h).

#include <filesystem>
#include <string>

namespace prof {

enum class Annotation : uint8_t {
  None,     // no code is annotated, or the file is not a program or library for this machine
  Unknown,  // it has no symbols to decide by
  Partial,  // some of its functions are not annotated
  Complete,
};

struct AnnotationFound {
  Annotation annotation = Annotation::None;
  std::string function;  // Partial: one that is not annotated
  uint64_t mark_at = 0;  // file offset of the note's `complete`
};

// Decides by the file's symbols. Functions of compiler and C library objects that are part of every program,
// and have no atomic operations, are ignored.
AnnotationFound annotation_of(const std::filesystem::path& file);

// Sets the mark by which the runtime recognizes the module, if all its code is annotated. A file that is not
// a module, or cannot be written, is left unchanged. Its atomic operations are then handled as those of any
// other module.
void mark_if_annotated(const std::filesystem::path& file);

}  // namespace prof
