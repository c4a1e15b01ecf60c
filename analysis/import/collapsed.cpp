// Collapsed stacks: "outermost;...;innermost VALUE", one per line.

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "analysis/import/builder.h"
#include "analysis/import/formats.h"

namespace prof {
namespace {

// Far larger than any real count; squares of sums stay finite.
constexpr double kMaxValue = 1e30;
// Per line, so that they can be counted.
constexpr double kMaxSamples = 1e12;

// The suffix that tools append to a frame's name: "f_[k]".
constexpr size_t kAnnotationLength = 4;
constexpr std::string_view kAnnotations =
    "ikj01";  // inlined, kernel, compiled at run time, interpreted, ditto

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

struct Line {
  std::string_view stack;
  double value;
};

// Returns nullopt if the line is not a stack with a value.
std::optional<Line> parse(std::string_view line) {
  const size_t space = line.find_last_of(" \t");
  if (space == std::string_view::npos) return std::nullopt;
  const char* const end = line.data() + line.size();
  Line parsed{trimmed(line.substr(0, space)), 0};
  const auto [after, error] = std::from_chars(line.data() + space + 1, end, parsed.value);
  if (error != std::errc{} || after != end || parsed.stack.empty()) return std::nullopt;
  // Negated, so that NaN is rejected too.
  if (!(parsed.value >= 0 && parsed.value <= kMaxValue)) return std::nullopt;
  return parsed;
}

bool is_skipped(std::string_view line) {
  return line.empty() || line.starts_with("# ");
}

std::string_view take_line(std::string_view& text) {
  const size_t length = std::min(text.find('\n'), text.size());
  const std::string_view line = trimmed(text.substr(0, length));
  text.remove_prefix(std::min(length + 1, text.size()));
  return line;
}

// True if every stack has two numbers, as difffolded.pl writes them. If one has not, a number before the last
// is part of a name.
bool has_two_values(std::string_view text) {
  bool any = false;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (is_skipped(line)) continue;
    const std::optional<Line> last = parse(line);
    if (!last) continue;
    if (!parse(last->stack)) return false;
    any = true;
  }
  return any;
}

class Importer {
 public:
  explicit Importer(const ImportSource& source)
      : source_(source),
        builder_(std::filesystem::path(source.name).filename().string()),
        metric_(builder_.metric({"samples", "", "the numbers of collapsed stacks", "", 1, std::nullopt})) {
    ProfileId id;
    id.thread = 0;
    profile_ = builder_.profile(id);
  }

  Import run(std::string_view text) {
    size_t number = 0, bad = 0, first_bad = 0, good = 0;
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    if (has_two_values(text))
      metric_before_ = builder_.metric(
          {"samples before", "", "the first numbers of differential stacks", "", 1, std::nullopt});
    while (!text.empty()) {
      const std::string_view line = take_line(text);
      ++number;
      if (is_skipped(line)) continue;
      if (const std::optional<Line> parsed = parse(line)) {
        add(*parsed);
        ++good;
      } else if (bad++ == 0) {
        first_bad = number;
      }
    }
    if (good == 0) {
      throw ImportError(
          ImportError::Kind::Damaged,
          fmt::format("{}: contains no collapsed stack (frames separated by ';', a space, a number)",
                      source_.name));
    }
    Import result;
    if (bad > 0) {
      result.warnings.push_back(
          fmt::format("{}: {} lines, first line {}, are not stacks with a usable number; left out",
                      source_.name, bad, first_bad));
    }
    result.database = builder_.finish({}, result.warnings);
    return result;
  }

 private:
  void add(const Line& line) {
    uint32_t context = kNone;
    const std::optional<Line> before = metric_before_ ? parse(line.stack) : std::nullopt;
    std::string_view stack = before ? before->stack : line.stack;
    while (!stack.empty()) {
      const size_t length = std::min(stack.find(';'), stack.size());
      const std::string_view frame = trimmed(stack.substr(0, length));
      stack.remove_prefix(std::min(length + 1, stack.size()));
      if (frame.empty()) continue;  // "a;;b", or one at an end
      if (context == kNone) {
        context = builder_.contexts().entry(frame != kOtherThread);
        if (frame == kMainThread || frame == kOtherThread) continue;
        context = builder_.contexts().extend(context, place(frame, true));
      } else {
        context = builder_.contexts().extend(context, place(frame, false));
      }
    }
    if (context == kNone) context = builder_.contexts().entry(true);
    const auto samples = static_cast<uint64_t>(std::llround(std::min(line.value, kMaxSamples)));
    builder_.add(profile_, metric_, context, line.value, samples);
    if (before) builder_.add(profile_, *metric_before_, context, before->value, 0);
  }

  PlaceId place(std::string_view frame, bool outermost) {
    const auto known = places_.find(frame);
    if (known != places_.end() && !(outermost && known->second.inlined)) return known->second.place;
    std::string_view name = frame;
    char annotation = 0;
    if (frame.size() > kAnnotationLength && frame.ends_with(']') &&
        frame.substr(frame.size() - kAnnotationLength).starts_with("_[") &&
        kAnnotations.find(frame[frame.size() - 2]) != std::string_view::npos) {
      annotation = frame[frame.size() - 2];
      name.remove_suffix(kAnnotationLength);
    }
    const uint32_t module = builder_.module(annotation == 'k'   ? "[kernel]"
                                            : annotation == 'j' ? "[jit]"
                                                                : "");
    const bool inlined = annotation == 'i' && !outermost;
    const PlaceFrame only{builder_.function(name, module, kNone, 0), kNone, 0, inlined};
    const PlaceId id = builder_.places().add({&only, 1});
    // Code inlined into nothing is rare, and not worth caching.
    if (!(outermost && annotation == 'i')) places_.emplace(frame, Known{id, inlined});
    return id;
  }

  struct Known {
    PlaceId place;
    bool inlined;
  };

  const ImportSource& source_;
  DatabaseBuilder builder_;
  uint32_t metric_;
  std::optional<uint32_t> metric_before_;  // of differential stacks
  uint32_t profile_ = 0;
  std::map<std::string, Known, std::less<>> places_;
};

}  // namespace

Import import_collapsed(std::span<const uint8_t> bytes, const ImportSource& source) {
  return Importer(source).run({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace prof
