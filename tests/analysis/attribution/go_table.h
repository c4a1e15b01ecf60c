#pragma once
// Builds a function table as Go's linker writes it (.gopclntab, Go 1.20 and later).

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace prof::test {

struct GoFunction {
  std::string name;
  uint32_t start = 0;  // offset of its code
  uint32_t definition_line = 0;
  // The line in the file (index of GoTable::files) from each offset on.
  struct Piece {
    uint32_t end, file, line;
  };
  std::vector<Piece> pieces;
};

struct GoTable {
  uint32_t magic = 0xfffffff1;
  uint64_t text = 0;  // address of the code; 0 as in Go 1.26 and later
  std::vector<std::string> files;
  std::vector<GoFunction> functions;  // ascending, without gaps

  std::string bytes() const;
};

inline void put_number(std::string& to, uint32_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

template <typename T>
void put(std::string& to, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  to.append(raw, sizeof raw);
}

inline std::string GoTable::bytes() const {
  std::string names(1, '\0');
  std::string units;
  std::string texts;
  std::string values(1, '\0');
  std::string list;
  std::string descriptions;
  for (const std::string& file : files) {
    put(units, static_cast<uint32_t>(texts.size()));
    texts += file + '\0';
  }
  const auto add_values = [&](const GoFunction& function, auto value_of) {
    const auto at = static_cast<uint32_t>(values.size());
    int64_t before = -1;
    uint32_t end = function.start;
    for (const GoFunction::Piece& piece : function.pieces) {
      const int64_t change = int64_t{value_of(piece)} - before;
      put_number(values, static_cast<uint32_t>(change < 0 ? ~change << 1 | 1 : change << 1));
      put_number(values, piece.end - end);
      before = value_of(piece);
      end = piece.end;
    }
    values += '\0';
    return at;
  };
  const size_t list_bytes = functions.size() * 8 + 4;
  for (const GoFunction& function : functions) {
    put(list, function.start);
    put(list, static_cast<uint32_t>(list_bytes + descriptions.size()));
    const uint32_t in_files = add_values(function, [](const auto& piece) { return piece.file; });
    const uint32_t in_lines = add_values(function, [](const auto& piece) { return piece.line; });
    for (const uint32_t field : {function.start, static_cast<uint32_t>(names.size()), 0u, 0u, 0u, in_files,
                                 in_lines, 0u, 0u, function.definition_line})
      put(descriptions, field);
    names += function.name + '\0';
  }
  put(list, functions.empty() ? 0u : functions.back().pieces.back().end);

  constexpr uint64_t kHeaderBytes = 72;
  const std::string parts[] = {names, units, texts, values, list + descriptions};
  std::string table;
  put(table, magic);
  table += std::string("\0\0\1\10", 4);
  put(table, uint64_t{functions.size()});
  put(table, uint64_t{files.size()});
  put(table, text);
  uint64_t at = kHeaderBytes;
  for (const std::string& part : parts) {
    put(table, at);
    at += part.size();
  }
  for (const std::string& part : parts) table += part;
  return table;
}

// Returns two functions of two files, with code of the second inlined in the first.
inline GoTable known_go_table() {
  GoTable table;
  table.files = {"/src/main.go", "/go/src/strings/strings.go"};
  table.functions = {{"main.work", 0x40, 10, {{0x50, 0, 11}, {0x70, 1, 300}, {0x80, 0, 12}}},
                     {"strings.Index", 0x80, 290, {{0xc0, 1, 291}}}};
  return table;
}

}  // namespace prof::test
