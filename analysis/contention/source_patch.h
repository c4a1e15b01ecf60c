#pragma once
// A source file with alignments put in, as a unified diff. What is written goes by what the line says, not
// only by its number: where it does not look like the declaration that the debug information tells of,
// nothing is changed.

#include <set>
#include <string>
#include <vector>

#include "analysis/run/contended_record.h"

namespace prof {

class SourcePatch {
 public:
  explicit SourcePatch(const std::string& text);

  // Makes the change. Empty, or why it was not made: a phrase of which the subject is the line.
  std::string make(const ContendedRecord::Change& change);

  // Empty where nothing was changed. `name`: of the file, as in the diff.
  std::string diff(const std::string& name) const;

 private:
  std::string put_before_declaration(size_t line, const ContendedRecord::Change& change);
  std::string put_on_type(size_t line, const ContendedRecord::Change& change);
  bool begins_behind_another(size_t line) const;
  void insert(size_t line, size_t column, const std::string& text);

  std::vector<std::string> before_, lines_;  // without line ends
  bool ends_line_ = true;                    // the last one does
  std::set<size_t> changed_;
  std::set<std::string> made_;  // a change may be that of several findings
};

}  // namespace prof
