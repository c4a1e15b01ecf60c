#pragma once
// Writes lists in JSON objects.

#include <cstddef>
#include <string_view>

#include "prof/report/output.h"

namespace prof {

// Writes a list after another member of the object. write_item(i) writes each item, preceded by
// `before_each`, a line break or nothing.
template <typename WriteItem>
void write_json_list(Output& out, const char* name, size_t count, std::string_view before_each,
                     WriteItem write_item) {
  out.print(",\n\"{}\":[", name);
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) out.write(",");
    out.write(before_each);
    write_item(i);
  }
  out.write("]");
}

}  // namespace prof
