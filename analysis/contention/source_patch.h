#pragma once
// Adds alignments to a source file, as a unified diff. A change is made by the text of the line, not only by
// its number: if the line does not look like the declaration in the debug information, nothing is changed.

#include <set>
#include <string>
#include <vector>

#include "analysis/run/contended_record.h"

namespace prof {

class SourcePatch {
 public:
  explicit SourcePatch(const std::string& text);

  // Makes the change. Returns an empty string, or why it was not made: a phrase whose subject is the line.
  std::string make(const ContendedRecord::Change& change);

  // Returns an empty string if nothing was changed. `name`: the file's name in the diff.
  std::string diff(const std::string& name) const;

 private:
  std::string put_before_declaration(size_t line, const ContendedRecord::Change& change);
  std::string put_on_type(size_t line, const ContendedRecord::Change& change);
  bool begins_behind_another(size_t line) const;
  void insert(size_t line, size_t column, const std::string& text);

  std::vector<std::string> before_, lines_;  // without line ends
  bool ends_line_ = true;                    // true if the last line has one
  std::set<size_t> changed_;
  std::set<std::string> made_;  // several findings may have the same change
};

}  // namespace prof
