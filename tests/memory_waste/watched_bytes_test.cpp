// The accesses that follow decide each watched byte: which of them makes the sampled access a wasted one.

#include "hpcrun/memory_waste/watched_bytes.h"

#include <catch2/catch.hpp>

#include <cstring>

using namespace hpcrun;

namespace {

constexpr uint64_t kAt = 0x1000;

WatchedBytes watched(WasteKind kind) {
  WatchedBytes bytes = choose_piece(kind, kAt, 8, 0);
  memcpy(bytes.value, "abcdefgh", 8);
  return bytes;
}

enum class Result { Wasted, Used, Nothing, Lost };

struct Transition {
  WasteKind kind;
  Touch touch;
  bool changes;  // the bytes differ from those that the sampled access left or returned
  Result result;
};

constexpr auto kDead = WasteKind::DeadStore;
constexpr auto kSilent = WasteKind::SilentStore;
constexpr auto kRedundant = WasteKind::RedundantLoad;

constexpr Transition kTransitions[] = {
    {kDead, Touch::Load, false, Result::Used},
    {kDead, Touch::Load, true, Result::Used},
    {kDead, Touch::Store, false, Result::Wasted},
    {kDead, Touch::Store, true, Result::Wasted},
    {kDead, Touch::LoadAndStore, false, Result::Used},
    {kDead, Touch::LoadAndStore, true, Result::Used},
    {kDead, Touch::KernelLoad, false, Result::Used},
    {kDead, Touch::Unknown, false, Result::Lost},
    {kDead, Touch::Unknown, true, Result::Lost},
    {kSilent, Touch::Load, false, Result::Nothing},
    {kSilent, Touch::Load, true, Result::Nothing},
    {kSilent, Touch::Store, false, Result::Wasted},
    {kSilent, Touch::Store, true, Result::Used},
    {kSilent, Touch::LoadAndStore, false, Result::Wasted},
    {kSilent, Touch::LoadAndStore, true, Result::Used},
    {kSilent, Touch::KernelLoad, false, Result::Nothing},
    {kSilent, Touch::Unknown, false, Result::Lost},
    {kSilent, Touch::Unknown, true, Result::Lost},
    {kRedundant, Touch::Load, false, Result::Wasted},
    {kRedundant, Touch::Load, true, Result::Used},
    {kRedundant, Touch::Store, false, Result::Nothing},
    {kRedundant, Touch::Store, true, Result::Used},
    {kRedundant, Touch::LoadAndStore, false, Result::Wasted},
    {kRedundant, Touch::LoadAndStore, true, Result::Wasted},
    {kRedundant, Touch::KernelLoad, false, Result::Nothing},
    {kRedundant, Touch::Unknown, false, Result::Lost},
    {kRedundant, Touch::Unknown, true, Result::Lost},
};

Result result_of(const Decision& decision) {
  if (decision.is_lost) return Result::Lost;
  return decision.wasted ? Result::Wasted : decision.used ? Result::Used : Result::Nothing;
}

}  // namespace

TEST_CASE("each kind of access decides a watched byte as the table has it") {
  for (const Transition& transition : kTransitions) {
    CAPTURE(static_cast<int>(transition.kind), static_cast<int>(transition.touch), transition.changes);
    WatchedBytes bytes = watched(transition.kind);
    const char* const now = transition.changes ? "abcdefgX" : "abcdefgh";
    const Decision decision =
        decide(bytes, transition.touch, all_bytes(8), reinterpret_cast<const uint8_t*>(now));
    CHECK(result_of(decision) == transition.result);
    const bool decides = transition.result == Result::Wasted || transition.result == Result::Used;
    CHECK(bytes.left == (decides ? 0 : all_bytes(8)));
    CHECK((decision.wasted & decision.used) == 0);
  }
}

TEST_CASE("an access to some of the bytes decides these alone") {
  WatchedBytes bytes = watched(kDead);
  const auto* const now = reinterpret_cast<const uint8_t*>("abcdefgh");
  CHECK(decide(bytes, Touch::Store, overlap(bytes, kAt + 2, 4), now).wasted == 0b00111100);
  CHECK(bytes.left == 0b11000011);
  CHECK(decide(bytes, Touch::Load, overlap(bytes, kAt, 4), now).used == 0b00000011);
  CHECK(decide(bytes, Touch::Store, overlap(bytes, kAt - 8, 64), now).wasted == 0b11000000);
  CHECK(bytes.left == 0);
  CHECK_FALSE(decide(bytes, Touch::Store, all_bytes(8), now).wasted);
}

TEST_CASE("a store that changes one of its bytes is not silent, and its other watched bytes stay") {
  WatchedBytes bytes = watched(kSilent);
  const auto* const now = reinterpret_cast<const uint8_t*>("abXdefgh");
  CHECK(decide(bytes, Touch::Store, overlap(bytes, kAt, 4), now).used == 0b00001111);
  CHECK(decide(bytes, Touch::Store, overlap(bytes, kAt + 4, 4), now).wasted == 0b11110000);
}

TEST_CASE("bytes overlap exactly where the ranges do") {
  const WatchedBytes bytes = watched(kDead);
  CHECK(overlap(bytes, kAt - 8, 8) == 0);
  CHECK(overlap(bytes, kAt - 8, 9) == 1);
  CHECK(overlap(bytes, kAt + 7, 1) == 0x80);
  CHECK(overlap(bytes, kAt + 8, 8) == 0);
}

TEST_CASE("pieces of a wide access are aligned words, in proportion to their bytes") {
  uint32_t counts[3] = {};
  for (uint64_t random = 0; random < 16; ++random) {
    const WatchedBytes piece = choose_piece(kDead, kAt + 4, 16, random);
    CHECK(piece.address >= kAt + 4);
    CHECK(piece.address + piece.count <= kAt + 20);
    ++counts[(piece.address - kAt) / 8];
    CHECK(represented_bytes(piece, all_bytes(piece.count)) == 16);
    const BreakpointRange range = range_of(piece);
    CHECK(range.length == piece.count);
    CHECK(range.address % range.length == 0);
  }
  CHECK(counts[0] == 4);
  CHECK(counts[1] == 8);
  CHECK(counts[2] == 4);
}

TEST_CASE("a breakpoint's range contains the watched bytes, and is the smallest that does") {
  for (uint64_t at = 0; at < 16; ++at)
    for (uint16_t bytes = 1; bytes <= 64; bytes = static_cast<uint16_t>(bytes * 2))
      for (uint64_t random = 0; random < bytes; ++random) {
        const WatchedBytes piece = choose_piece(kDead, kAt + at, bytes, random);
        const BreakpointRange range = range_of(piece);
        CHECK(
            (range.address <= piece.address && piece.address + piece.count <= range.address + range.length));
        CHECK(range.address % range.length == 0);
        const uint8_t half = range.length / 2;
        if (half) CHECK(piece.address / half != (piece.address + piece.count - 1u) / half);
      }
}
