#include "analysis/database/values_by_range.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "analysis/database/database.h"

namespace prof {

using namespace format;

uint32_t first_context(const Database& database, const WrittenProfiles& written, size_t range) {
  if (range == 0) return 0;
  return range <= written.cuts.size() ? written.cuts[range - 1]
                                      : static_cast<uint32_t>(database.contexts.size() + 1);
}

ValuesByRange::ValuesByRange(std::filesystem::path file, const Database& database,
                             const WrittenProfiles& written, uint32_t ids)
    : path_(std::move(file)),
      descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)),
      database_(database),
      written_(written),
      ids_(ids) {
  if (descriptor_ < 0) fail(errno);
}

ValuesByRange::~ValuesByRange() {
  ::close(descriptor_);
}

ValuesByRange::Read ValuesByRange::read(size_t first_range, size_t end_range) const {
  Read all{first_range, end_range, {}, {0}};
  const auto of = [&](const ValueBlock& block) {
    const ValueBlock::Before from = before(block, first_range), to = before(block, end_range);
    return std::pair(size_t{to.contexts - from.contexts} * kContextIndexBytes,
                     static_cast<size_t>(to.values - from.values) * kProfileValueBytes);
  };
  for (const ValueBlock& block : written_.blocks) {
    const auto [indices, values] = of(block);
    all.begin.push_back(all.begin.back() + indices + values);
  }
  all.bytes.resize(all.begin.back());
  for (size_t profile = 0; profile < written_.blocks.size(); ++profile) {
    const ValueBlock& block = written_.blocks[profile];
    const ValueBlock::Before from = before(block, first_range);
    const auto [indices, values] = of(block);
    char* const to = all.bytes.data() + all.begin[profile];
    read(block.indices + uint64_t{from.contexts} * kContextIndexBytes, indices, to);
    read(block.values + from.values * kProfileValueBytes, values, to + indices);
  }
  return all;
}

uint32_t ValuesByRange::first_context(size_t range) const {
  return prof::first_context(database_, written_, range);
}

void ValuesByRange::read(uint64_t offset, size_t bytes, char* out) const {
  for (size_t done = 0; done < bytes;) {
    const ssize_t got = ::pread(descriptor_, out + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail(got < 0 ? errno : EIO);
    done += static_cast<size_t>(got);
  }
}

void ValuesByRange::require(bool holds) const {
  if (!holds) fail(EIO);
}

void ValuesByRange::fail(int error) const {
  throw DatabaseError(
      DatabaseError::Kind::Unreadable,
      fmt::format("{}: cannot read back the values just written: {}; choose another directory with -o",
                  path_.string(), std::strerror(error)));
}

}  // namespace prof
