// Blocks and mappings that pass between threads: what one wrote another finds, whatever happened to the
// memory in between.

#include <errno.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "soak.h"

namespace soak {

namespace {

// A piece of memory with a pattern of its own.
struct Piece {
  unsigned char* at = nullptr;
  size_t bytes = 0;
  unsigned char seed = 0;
  bool is_mapped = false;
};

unsigned char pattern(const Piece& piece, size_t i) {
  return static_cast<unsigned char>(piece.seed + i * 7);
}

// Uses each 61st byte and the last ones; large pieces are only sampled.
template <class Use>
void for_some_bytes(size_t from, size_t to, Use use) {
  const size_t step = to - from < 512 ? 1 : 61;
  for (size_t i = from; i < to; i += step) use(i);
  if (to > from) use(to - 1);
}

void fill(const Piece& piece) {
  for_some_bytes(0, piece.bytes, [&](size_t i) { piece.at[i] = pattern(piece, i); });
}
void check(const Piece& piece) {
  for_some_bytes(0, piece.bytes, [&](size_t i) { SOAK_REQUIRE(piece.at[i] == pattern(piece, i)); });
}

// The place in which threads leave pieces for others.
constexpr int kPlaces = 64;
alignas(kPage) pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
alignas(kPage) Piece places[kPlaces];

// Leaves a piece, and gets another thread's, or nothing.
Piece exchange(Worker& worker, Piece mine) {
  Piece& place = places[worker.below(kPlaces)];
  pthread_mutex_lock(&mutex);
  const Piece other = std::exchange(place, mine);
  pthread_mutex_unlock(&mutex);
  return other;
}

void release(const Piece& piece) {
  if (!piece.at) return;
  check(piece);
  if (piece.is_mapped)
    SOAK_REQUIRE(munmap(piece.at, piece.bytes) == 0);
  else
    free(piece.at);
}

size_t any_size(Worker& worker) {
  constexpr size_t kLimits[] = {16, 64, 256, 1024, 1024, 8192, 100'000, 2 << 20};
  const auto limit = kLimits[worker.below(std::size(kLimits))];
  return 1 + worker.below(limit);
}

void allocate(Worker& worker) {
  Piece piece{nullptr, any_size(worker), static_cast<unsigned char>(worker.random()), false};
  switch (worker.below(4)) {
    case 0:
      piece.at = static_cast<unsigned char*>(calloc(1, piece.bytes));
      for_some_bytes(0, piece.bytes, [&](size_t i) { SOAK_REQUIRE(piece.at[i] == 0); });
      break;
    case 1:
      piece.bytes = (piece.bytes + 63) & ~size_t{63};
      piece.at = static_cast<unsigned char*>(aligned_alloc(64, piece.bytes));
      SOAK_REQUIRE(reinterpret_cast<uintptr_t>(piece.at) % 64 == 0);
      break;
    default:
      piece.at = static_cast<unsigned char*>(malloc(piece.bytes));
  }
  SOAK_REQUIRE(piece.at);
  fill(piece);
  release(exchange(worker, piece));
}

void reallocate(Worker& worker) {
  Piece piece = exchange(worker, {});
  if (!piece.at || piece.is_mapped) return release(piece);
  check(piece);
  const size_t bytes = any_size(worker), kept = bytes < piece.bytes ? bytes : piece.bytes;
  auto* const at = static_cast<unsigned char*>(realloc(piece.at, bytes));
  SOAK_REQUIRE(at);
  // The bytes that check() reads, for both sizes.
  const Piece before{at, piece.bytes, piece.seed, false};
  const size_t step = piece.bytes < 512 ? 1 : 61;
  for (size_t i = 0; i < kept; i += step) SOAK_REQUIRE(at[i] == pattern(before, i));
  piece = {at, bytes, static_cast<unsigned char>(worker.random()), false};
  fill(piece);
  release(exchange(worker, piece));
}

unsigned char* map(size_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  SOAK_REQUIRE(at != MAP_FAILED);
  return static_cast<unsigned char*>(at);
}

void map_piece(Worker& worker) {
  Piece piece{nullptr, (1 + worker.below(64)) * kPage, static_cast<unsigned char>(worker.random()), true};
  piece.at = map(piece.bytes);
  for (size_t i = 0; i < piece.bytes; i += kPage) SOAK_REQUIRE(piece.at[i] == 0);
  fill(piece);
  release(exchange(worker, piece));
}

// Changes a piece that belonged to another thread.
void change_mapping(Worker& worker) {
  Piece piece = exchange(worker, {});
  if (!piece.at || !piece.is_mapped) return release(piece);
  check(piece);
  const size_t pages = piece.bytes / kPage, first = worker.below(pages);
  unsigned char* const at = piece.at + first * kPage;
  const size_t bytes = (1 + worker.below(pages - first)) * kPage;
  switch (worker.below(5)) {
    case 0:  // zeros from now on
      SOAK_REQUIRE(madvise(at, bytes, MADV_DONTNEED) == 0);
      for (size_t i = 0; i < bytes; i += kPage) SOAK_REQUIRE(at[i] == 0);
      break;
    case 1:  // unchanged
      SOAK_REQUIRE(mprotect(at, bytes, PROT_READ) == 0);
      check(piece);
      SOAK_REQUIRE(mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0);
      check(piece);
      break;
    case 2:  // a hole, and something new in it
      SOAK_REQUIRE(munmap(at, bytes) == 0);
      if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) !=
          at) {
        SOAK_REQUIRE(errno == EEXIST);  // another thread was faster
        if (first > 0) SOAK_REQUIRE(munmap(piece.at, first * kPage) == 0);
        const size_t behind = piece.bytes - first * kPage - bytes;
        if (behind > 0) SOAK_REQUIRE(munmap(at + bytes, behind) == 0);
        return;
      }
      for (size_t i = 0; i < bytes; i += kPage) SOAK_REQUIRE(at[i] == 0);
      break;
    case 3: {
      void* const moved = mremap(piece.at, piece.bytes, 2 * piece.bytes, MREMAP_MAYMOVE);
      SOAK_REQUIRE(moved != MAP_FAILED);
      piece.at = static_cast<unsigned char*>(moved);
      check(piece);
      SOAK_REQUIRE(munmap(piece.at + piece.bytes, piece.bytes) == 0);
      break;
    }
    default:  // over what was there
      SOAK_REQUIRE(mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
                   at);
      for (size_t i = 0; i < bytes; i += kPage) SOAK_REQUIRE(at[i] == 0);
  }
  piece.seed = static_cast<unsigned char>(worker.random());
  fill(piece);
  release(exchange(worker, piece));
}

void rest() {
  for (Piece& place : places) release(std::exchange(place, {}));
}

constexpr Action kActions[] = {{"allocate", 100, allocate},
                               {"reallocate", 60, reallocate},
                               {"map", 12, map_piece},
                               {"change a mapping", 12, change_mapping}};

}  // namespace

const Part memory{kActions, [] {}, rest};

}  // namespace soak
