// The merge of private pages, in every order in which the accesses of a few threads to the common page can
// interleave. The invariant is stated once (class World) and checked after each access. It must detect merges
// that are wrong in plausible ways.

#include "repair/isolate/pages/merge.h"

#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "repair/isolate/pages/scan.h"
#include "tests/repair/isolate/every_order.h"

using namespace hpcrun;
using namespace hpcrun::test;

namespace {

constexpr size_t kBytes = kBlockBytes;  // one block: blocks are merged one after the other, each by itself

struct alignas(kBlockBytes) Page {
  std::array<std::byte, kBytes> bytes{};
  template <class T>
  T get(size_t offset) const {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  template <class T>
  void set(size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
  }
};

// An aligned value of `width` bytes that one thread writes. The common page may hold only its values, in
// order.
struct Story {
  size_t offset, width;
  std::vector<uint64_t> values{0};  // the first is the initial value
  size_t reached = 0;
};

class World {
 public:
  EveryOrder order;
  Page common;
  std::vector<Story> stories;
  std::string wrong;  // the first error

  void look() {
    for (Story& story : stories) {
      const uint64_t all = common.get<uint64_t>(story.offset / 8 * 8) >> story.offset % 8 * 8;
      const uint64_t value = story.width == 8 ? all : all & ((uint64_t{1} << story.width * 8) - 1);
      while (story.reached < story.values.size() && story.values[story.reached] != value) ++story.reached;
      if (story.reached == story.values.size()) {
        expect(false, "the common page has, or has again, what was not written there");
        story.reached = 0;
      }
    }
  }
  void expect(bool holds, const char* what) {
    if (!holds && wrong.empty()) wrong = what;
  }
};

// The common page, one access per step.
struct Common {
  World& world;

  Block load(size_t offset) {
    world.order.step();
    return _mm_load_si128(reinterpret_cast<const Block*>(world.common.bytes.data() + offset));
  }
  void store(size_t offset, uint64_t word) {
    world.order.step();
    world.common.set(offset, word);
    world.look();
  }
  void store_byte(size_t offset, std::byte value) {
    world.order.step();
    world.common.bytes[offset] = value;
    world.look();
  }
  bool exchange(size_t offset, uint64_t& seen, uint64_t word) {
    world.order.step();
    const auto now = world.common.get<uint64_t>(offset);
    if (now != seen) {
      seen = now;
      return false;
    }
    world.common.set(offset, word);
    world.look();
    return true;
  }
};

using Merge = uint32_t (*)(Common&, std::byte* page, std::byte* base, size_t bytes);

uint32_t right_merge(Common& common, std::byte* page, std::byte* base, size_t bytes) {
  return merge(common, page, base, bytes);
}

// A thread with a private page.
class Converted {
 public:
  Converted(World& world, Merge merge) : common_{world}, merge_(merge), page_(world.common), base_(page_) {}

  void commit() {
    merge_(common_, page_.bytes.data(), base_.bytes.data(), kBytes);
    common_.world.expect(page_.bytes == base_.bytes, "page and base differ after a commit");
  }
  template <class T>
  void write(size_t offset, T value) {
    page_.set(offset, value);
  }
  template <class T>
  T read(size_t offset) const {
    return page_.get<T>(offset);
  }
  // On the common page, like atomic operations.
  template <class T>
  void add_in_common(size_t offset, T value) {
    common_.world.order.step();
    common_.world.common.set(offset, static_cast<T>(common_.world.common.get<T>(offset) + value));
  }

 private:
  Common common_;
  Merge merge_;
  Page page_, base_;
};

// Runs a program in every order. Returns the first error, or an empty string. Counts the orders in `orders`.
using Program = std::string (*)(Merge, size_t& orders);

std::string in_every_order(World& world, std::vector<EveryOrder::Actor> actors,
                           const std::function<void()>& finish, size_t& orders) {
  const std::vector<Story> stories = world.stories;
  orders = world.order.run(
      [&] {
        world.common = {};
        world.stories = stories;
      },
      actors,
      [&] {
        world.look();
        for (const Story& story : world.stories)
          world.expect(story.reached + 1 == story.values.size(), "a store was lost");
        finish();
        return world.wrong.empty();
      });
  return world.wrong;
}

// Two threads count in adjacent bytes, and merge at any time.
std::string bytes_of_one_word(Merge merge, size_t& orders) {
  World world;
  world.stories = {{2, 1, {0, 1, 2, 3}}, {3, 1, {0, 7, 8, 9}}};
  const auto counts = [&](size_t s) {
    return [&world, merge, s](EveryOrder&) {
      Converted converted(world, merge);
      const Story story = world.stories[s];
      for (size_t v = 1; v < story.values.size(); ++v) {
        converted.write(story.offset, static_cast<uint8_t>(story.values[v]));
        converted.commit();
      }
    };
  };
  return in_every_order(
      world, {counts(0), counts(1)}, [] {}, orders);
}

// One thread reads what the other writes, next to a value of its own.
std::string values_wider_than_what_changes(Merge merge, size_t& orders) {
  World world;
  world.stories = {{0, 4, {0, 0x00ffff, 0x010000}}, {4, 2, {0, 0x00ff, 0x0100}}, {8, 8, {0, ~uint64_t{0}}}};
  const EveryOrder::Actor first = [&](EveryOrder&) {
    Converted converted(world, merge);
    converted.write(0, uint32_t{0x00ffff});
    converted.commit();
    converted.write(0, uint32_t{0x010000});
    converted.commit();
  };
  const EveryOrder::Actor second = [&](EveryOrder&) {
    Converted converted(world, merge);
    converted.write(4, uint16_t{0x00ff});
    converted.commit();
    converted.write(4, uint16_t{0x0100});
    converted.write(8, ~uint64_t{0});
    converted.commit();
  };
  return in_every_order(
      world, {first, second}, [] {}, orders);
}

// A counter under a lock that carries into its second byte, next to one byte of each thread's own.
template <size_t kThreads, int kTurns>
std::string counter_under_a_lock(Merge merge, size_t& orders) {
  World world;
  EveryOrder::Lock lock;
  int counted = 0;
  const auto counts = [&](size_t thread) {
    return [&, thread](EveryOrder& order) {
      Converted converted(world, merge);
      for (int turn = 0; turn < kTurns; ++turn) {
        converted.write(8 + thread, static_cast<uint8_t>(turn + 1));
        order.take(lock);
        converted.commit();
        world.expect(converted.read<uint16_t>(0) == 0xff * counted, "not seen under a lock: what it guards");
        converted.write(0, static_cast<uint16_t>(0xff * ++counted));
        converted.commit();
        order.release(lock);
      }
    };
  };
  std::vector<EveryOrder::Actor> actors;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    actors.push_back(counts(thread));
    world.stories.push_back({8 + thread, 1, {0}});
    for (uint64_t turn = 1; turn <= kTurns; ++turn) world.stories.back().values.push_back(turn);
  }
  const std::string wrong = in_every_order(
      world, actors,
      [&] {
        world.expect(world.common.get<uint16_t>(0) == 0xff * kThreads * kTurns, "an increment was lost");
        counted = 0;
      },
      orders);
  return wrong;
}

// Reference counts are atomic, on the common page; the bytes next to them are not.
std::string atomic_values_beside_others(Merge merge, size_t& orders) {
  World world;
  world.stories = {{4, 1, {0, 1, 2}}, {5, 1, {0, 1, 2}}};
  const auto counts = [&](size_t s) {
    return [&world, merge, s](EveryOrder&) {
      Converted converted(world, merge);
      for (uint8_t turn = 1; turn <= 2; ++turn) {
        converted.write(world.stories[s].offset, turn);
        converted.add_in_common<uint32_t>(0, 0x81);
        converted.commit();
      }
    };
  };
  return in_every_order(
      world, {counts(0), counts(1)},
      [&] { world.expect(world.common.get<uint32_t>(0) == 4 * 0x81, "an atomic addition was lost"); },
      orders);
}

// A thread that only reads observes the other's stores in the order of its merges.
std::string a_reader(Merge merge, size_t& orders) {
  World world;
  world.stories = {{1, 1, {0, 1, 2}}};
  const EveryOrder::Actor writer = [&](EveryOrder&) {
    Converted converted(world, merge);
    for (uint8_t value = 1; value <= 2; ++value) {
      converted.write(1, value);
      converted.commit();
    }
  };
  const EveryOrder::Actor reader = [&](EveryOrder&) {
    Converted converted(world, merge);
    uint8_t before = 0;
    for (int turn = 0; turn < 3; ++turn) {
      const auto now = converted.read<uint8_t>(1);
      world.expect(now >= before, "a reader saw an older value again");
      before = now;
      converted.commit();
    }
  };
  return in_every_order(
      world, {writer, reader}, [] {}, orders);
}

struct NamedProgram {
  const char* name;
  Program run;
};
constexpr NamedProgram kPrograms[] = {
    {"bytes of one word", bytes_of_one_word},
    {"values wider than what changes", values_wider_than_what_changes},
    {"counter under a lock, two threads", counter_under_a_lock<2, 2>},
    {"counter under a lock, three threads", counter_under_a_lock<3, 1>},
    {"atomic values beside others", atomic_values_beside_others},
    {"a reader", a_reader},
};

std::string first_wrong_of_all(Merge merge) {
  for (const NamedProgram& program : kPrograms) {
    size_t orders = 0;
    if (std::string wrong = program.run(merge, orders); !wrong.empty()) return wrong;
  }
  return "";
}

// Incorrect merges, by bytes.
template <class Change>
uint32_t bytewise(Common& common, std::byte* page, std::byte* base, size_t bytes, Change change) {
  for (size_t offset = 0; offset < bytes; offset += kBlockBytes) {
    std::array<std::byte, kBlockBytes> seen;
    _mm_storeu_si128(reinterpret_cast<Block*>(seen.data()), common.load(offset));
    for (size_t b = 0; b < kBlockBytes; ++b) change(offset + b, seen[b], page[offset + b], base[offset + b]);
  }
  return 0;
}

uint32_t torn(Common& common, std::byte* page, std::byte* base, size_t bytes) {
  return bytewise(common, page, base, bytes,
                  [&](size_t at, std::byte seen, std::byte& mine, std::byte& before) {
                    if (mine != before) common.store_byte(at, seen = mine);
                    mine = before = seen;
                  });
}

uint32_t read_twice(Common& common, std::byte* page, std::byte* base, size_t bytes) {
  merge(common, page, base, bytes);
  for (size_t offset = 0; offset < bytes; offset += kBlockBytes)
    _mm_store_si128(reinterpret_cast<Block*>(base + offset), common.load(offset));
  return 0;
}

uint32_t whole_words(Common& common, std::byte* page, std::byte* base, size_t bytes) {
  for (size_t offset = 0; offset < bytes; offset += sizeof(uint64_t)) {
    if (std::memcmp(page + offset, base + offset, sizeof(uint64_t)) == 0) continue;
    uint64_t word;
    std::memcpy(&word, page + offset, sizeof word);
    common.store(offset, word);
    std::memcpy(base + offset, page + offset, sizeof word);
  }
  return merge(common, page, base, bytes);
}

// The word is composed of what was read first, and stored without reading again.
uint32_t without_looking_again(Common& common, std::byte* page, std::byte* base, size_t bytes) {
  struct Careless : Common {
    bool exchange(size_t offset, uint64_t&, uint64_t word) {
      store(offset, word);
      return true;
    }
  } careless{common};
  return merge(careless, page, base, bytes);
}

uint32_t never_refreshed(Common& common, std::byte* page, std::byte* base, size_t bytes) {
  const std::vector<std::byte> before(page, page + bytes);
  merge(common, page, base, bytes);
  std::memcpy(page, before.data(), bytes);
  std::memcpy(base, before.data(), bytes);
  return 0;
}

uint32_t nothing_at_all(Common&, std::byte* page, std::byte* base, size_t bytes) {
  std::memcpy(base, page, bytes);
  return 0;
}

}  // namespace

TEST_CASE("In every order of accesses each store reaches the common page once, and nothing else does") {
  for (const NamedProgram& program : kPrograms) {
    size_t orders = 0;
    INFO(program.name);
    CHECK(program.run(right_merge, orders) == "");
    UNSCOPED_INFO(program.name << ": " << orders << " orders");
    CHECK(orders > 50);
  }
}

TEST_CASE("Merges that are wrong are caught") {
  CHECK(first_wrong_of_all(torn) != "");
  CHECK(first_wrong_of_all(read_twice) != "");
  CHECK(first_wrong_of_all(whole_words) != "");
  CHECK(first_wrong_of_all(without_looking_again) != "");
  CHECK(first_wrong_of_all(never_refreshed) != "");
  CHECK(first_wrong_of_all(nothing_at_all) != "");
}

TEST_CASE("Changed bytes of a word") {
  std::mt19937_64 random(1);
  for (int turn = 0; turn < 100'000; ++turn) {
    const uint64_t before = random();
    const uint64_t now = before ^ (random() & random() & random() & random());
    uint64_t expected = 0;
    for (int b = 0; b < 64; b += 8)
      if ((now >> b & 0xff) != (before >> b & 0xff)) expected |= uint64_t{0xff} << b;
    REQUIRE(changed_bytes(now, before) == expected);
  }
}

namespace {

constexpr size_t kScanned = 512;
struct alignas(kScanBytes) Bytes {
  std::byte at[kScanned];
};
enum Which { kPage, kBase, kCommon };

template <Stores stores>
bool is_looked_for(Which changed) {
  return stores == Stores::All || changed == kBase || changed == (stores == Stores::Own ? kPage : kCommon);
}

template <Stores stores>
void check_scans(const Bytes (&pages)[3], size_t from, size_t first) {
  const auto found_by = [&](auto scan) {
    return scan(pages[kPage].at, pages[kBase].at, pages[kCommon].at, from, kScanned);
  };
  REQUIRE(found_by(next_to_merge<stores>) == first);
  if (has_wide_scan()) REQUIRE(found_by(next_to_merge_wide<stores>) == first);
  if (has_widest_scan()) REQUIRE(found_by(next_to_merge_widest<stores>) == first);
}

}  // namespace

TEST_CASE("What has to be merged is found, and nothing else") {
  std::mt19937 random(1);
  for (int turn = 0; turn < 20'000; ++turn) {
    Bytes pages[3];
    for (std::byte& byte : pages[kPage].at) byte = static_cast<std::byte>(random());
    pages[kBase] = pages[kCommon] = pages[kPage];
    size_t first = kScanned;
    const auto changed = static_cast<Which>(random() % 3);
    if (turn % 5 != 0) {
      const size_t at = random() % kScanned;
      pages[changed].at[at] ^= static_cast<std::byte>(1 << random() % 8);
      first = at / kScanBytes * kScanBytes;
    }
    const size_t from = random() % (first / kScanBytes + 1) * kScanBytes;
    check_scans<Stores::Own>(pages, from, is_looked_for<Stores::Own>(changed) ? first : kScanned);
    check_scans<Stores::Others>(pages, from, is_looked_for<Stores::Others>(changed) ? first : kScanned);
    check_scans<Stores::All>(pages, from, first);
  }
}
