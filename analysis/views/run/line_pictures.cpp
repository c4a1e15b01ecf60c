#include "analysis/views/run/line_pictures.h"

#include <algorithm>
#include <map>
#include <utility>

namespace prof {

std::vector<LinePicture> line_pictures(const ContendedRecord& record) {
  constexpr size_t kLine = 64;
  // Identifies a line by its address, because several objects may be on it; if the address is not known, by
  // the offset.
  struct Line {
    int64_t offset = INT64_MAX;  // from the start of the first object
    uint64_t first_object = 0;
    std::map<uint32_t, std::string> rows;
  };
  std::map<std::pair<uint64_t, int64_t>, Line> lines;
  for (const ContendedRecord::Side& side : record.sides) {
    const int64_t offset = static_cast<int64_t>(side.offset) - static_cast<int64_t>(side.line_offset);
    Line& line = lines[{side.line, side.line == 0 ? offset : 0}];
    if (line.offset == INT64_MAX || side.object < line.first_object) {
      line.offset = offset;
      line.first_object = side.object;
    }
    std::string& bytes = line.rows.try_emplace(side.profile, kLine, '.').first->second;
    const bool is_read = hpcrun::reads(side.access);
    const bool is_written = hpcrun::writes(side.access);
    for (uint64_t i = side.line_offset; i < std::min<uint64_t>(side.line_offset + side.bytes, kLine); ++i) {
      const bool was_read = bytes[i] == 'r' || bytes[i] == 'b';
      const bool was_written = bytes[i] == 'w' || bytes[i] == 'b';
      const bool reads_it = is_read || was_read;
      const bool writes_it = is_written || was_written;
      bytes[i] = reads_it && writes_it ? 'b' : writes_it ? 'w' : 'r';
    }
  }
  std::vector<LinePicture> pictures;
  for (const auto& [address, line] : lines) {
    LinePicture& picture = pictures.emplace_back();
    picture.offset = line.offset;
    picture.object = line.first_object;
    for (const auto& [profile, bytes] : line.rows) picture.rows.push_back({profile, bytes});
  }
  return pictures;
}

}  // namespace prof
