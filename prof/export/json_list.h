#pragma once
// Lists of an object in JSON.

#include <cstddef>
#include <string_view>

#include "prof/report/output.h"

namespace prof {

// Behind another member of the object: a list of that many items, each written by write_item(i) behind
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
