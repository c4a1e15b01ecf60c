#include <catch2/catch.hpp>

#include "analysis/workers/packing.h"

using namespace prof;

namespace {

enum class Kind : uint8_t { First, Second };

struct Inner {
  std::string name;
  std::vector<double> numbers;
  bool operator==(const Inner&) const = default;
};

template <typename Archive>
void fields(Archive& archive, Inner& inner) {
  archive(inner.name, inner.numbers);
}

// An object of each kind that can be packed.
struct Everything {
  uint64_t number = 0;
  Kind kind = Kind::First;
  std::array<double, 3> fixed{};
  std::string text;
  std::filesystem::path path;
  std::vector<uint32_t> numbers;
  std::vector<std::string> texts;
  std::vector<Inner> inner;
  std::map<std::string, uint64_t> ordered;
  std::unordered_map<uint64_t, std::string> unordered;
  std::vector<std::pair<uint32_t, double>> pairs;
  bool operator==(const Everything&) const = default;
};

template <typename Archive>
void fields(Archive& archive, Everything& all) {
  auto& [number, kind, fixed, text, path, numbers, texts, inner, ordered, unordered, pairs] = all;
  archive(number, kind, fixed, text, path, numbers, texts, inner, ordered, unordered, pairs);
}

Everything example() {
  return {1ull << 60,
          Kind::Second,
          {1, -2.5, 1e300},
          std::string("with \0 inside", 13),
          "/a/b c",
          {1, 2, UINT32_MAX},
          {"", "one", "two"},
          {{"inner", {0.5}}, {"", {}}},
          {{"a", 1}, {"b", 2}},
          {{7, "seven"}, {8, ""}},
          {{1, 0.25}, {2, 4}}};
}

std::string packed(const Everything& value) {
  Packer out;
  out(value);
  return out.bytes();
}

}  // namespace

TEST_CASE("what was packed comes back as it was") {
  const Everything original = example();
  const std::string bytes = packed(original);
  Unpacker in(bytes);
  CHECK(in.get<Everything>() == original);
  CHECK_NOTHROW(in.end());
}

TEST_CASE("values follow each other") {
  Packer out;
  out(uint32_t{5}, std::string("five"));
  out(Everything{});
  Unpacker in(out.bytes());
  CHECK(in.get<uint32_t>() == 5);
  CHECK(in.get<std::string>() == "five");
  CHECK_THROWS_AS(in.end(), DamagedPart);
  CHECK(in.get<Everything>() == Everything{});
  CHECK_NOTHROW(in.end());
}

TEST_CASE("what is cut anywhere is refused") {
  const std::string bytes = packed(example());
  for (size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    const std::string prefix = bytes.substr(0, size);
    Unpacker in(prefix);
    CHECK_THROWS_AS(in.get<Everything>(), DamagedPart);
  }
}

TEST_CASE("flipped bits are read as other values or refused") {
  const std::string bytes = packed(example());
  size_t refused = 0;
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    try {
      Unpacker in(damaged);
      in.get<Everything>();
    } catch (const DamagedPart&) {
      ++refused;
    }
  }
  CHECK(refused > bytes.size());  // the upper halves of all sizes at least
}

TEST_CASE("a size beyond what is there takes no memory") {
  Packer out;
  out(uint64_t{1} << 62);
  Unpacker texts(out.bytes());
  CHECK_THROWS_AS(texts.get<std::vector<std::string>>(), DamagedPart);
  Unpacker numbers(out.bytes());
  CHECK_THROWS_AS(numbers.get<std::vector<double>>(), DamagedPart);
}
