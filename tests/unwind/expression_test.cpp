#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "hpcrun/unwind/expression.h"

namespace {

using namespace hpcrun;

struct Evaluated {
  EvaluationStatus status;
  uint64_t value;
};

Evaluated run(const std::vector<uint8_t>& code, const uint64_t* initial = nullptr) {
  Registers registers{};
  registers.set(kRsp, 0x1000);
  registers.set(kRbp, 0x2000);
  const auto memory = std::make_unique<StackMemory>();
  memory->begin(0, 0);
  uint64_t value = 0;
  const EvaluationStatus status =
      evaluate({code.data(), code.size()}, registers, 0x500000, initial, *memory, value);
  return {status, value};
}

uint64_t value_of(const std::vector<uint8_t>& code) {
  const Evaluated result = run(code);
  CHECK(result.status == EvaluationStatus::Ok);
  return result.value;
}

}  // namespace

TEST_CASE("constants of every width and sign") {
  CHECK(value_of({0x30}) == 0);
  CHECK(value_of({0x4f}) == 31);
  CHECK(value_of({0x08, 0xff}) == 255);
  CHECK(value_of({0x09, 0xff}) == ~uint64_t{0});
  CHECK(value_of({0x0a, 0xff, 0xff}) == 0xffff);
  CHECK(value_of({0x0b, 0xfe, 0xff}) == ~uint64_t{1});
  CHECK(value_of({0x0c, 0, 0, 0, 0x80}) == 0x80000000);
  CHECK(value_of({0x0d, 0, 0, 0, 0x80}) == 0xffffffff80000000);
  CHECK(value_of({0x0e, 1, 2, 3, 4, 5, 6, 7, 8}) == 0x0807060504030201);
  CHECK(value_of({0x10, 0x80, 0x01}) == 128);
  CHECK(value_of({0x11, 0x7f}) == ~uint64_t{0});
  CHECK(value_of({0x03, 0x10, 0, 0, 0, 0, 0, 0, 0}) == 0x500010);
}

TEST_CASE("registers with offsets, and those that are not known") {
  CHECK(value_of({0x77, 0x08}) == 0x1008);
  CHECK(value_of({0x76, 0x78}) == 0x1ff8);
  CHECK(value_of({0x92, 6, 0x10}) == 0x2010);
  CHECK(run({0x73, 0}).status == EvaluationStatus::Unsupported);
  CHECK(run({0x92, 40, 0}).status == EvaluationStatus::Unsupported);
}

TEST_CASE("the stack's operations keep the order the standard says") {
  CHECK(value_of({0x31, 0x32, 0x12, 0x22, 0x22}) == 5);       // dup
  CHECK(value_of({0x31, 0x32, 0x13}) == 1);                   // drop
  CHECK(value_of({0x35, 0x32, 0x14, 0x1c}) == uint64_t(-3));  // over
  CHECK(value_of({0x35, 0x32, 0x31, 0x15, 2}) == 5);          // pick
  CHECK(value_of({0x35, 0x32, 0x16, 0x1c}) == uint64_t(-3));  // swap
  // rot: the top becomes third, the second becomes top.
  CHECK(value_of({0x31, 0x32, 0x33, 0x17}) == 2);
  CHECK(value_of({0x31, 0x32, 0x33, 0x17, 0x13}) == 1);
  CHECK(value_of({0x31, 0x32, 0x33, 0x17, 0x13, 0x13}) == 3);
}

TEST_CASE("arithmetic and comparison") {
  CHECK(value_of({0x3f, 0x3a, 0x1a}) == 10);
  CHECK(value_of({0x09, 0xf8, 0x33, 0x1b}) == uint64_t(-2));  // -8 / 3
  CHECK(value_of({0x38, 0x33, 0x1c}) == 5);
  CHECK(value_of({0x38, 0x33, 0x1d}) == 2);
  CHECK(value_of({0x38, 0x33, 0x1e}) == 24);
  CHECK(value_of({0x31, 0x1f}) == ~uint64_t{0});
  CHECK(value_of({0x30, 0x20}) == ~uint64_t{0});
  CHECK(value_of({0x09, 0xfb, 0x19}) == 5);
  CHECK(value_of({0x38, 0x31, 0x21}) == 9);
  CHECK(value_of({0x38, 0x23, 0x80, 0x01}) == 136);
  CHECK(value_of({0x31, 0x33, 0x24}) == 8);
  CHECK(value_of({0x38, 0x32, 0x25}) == 2);
  CHECK(value_of({0x09, 0xf8, 0x31, 0x26}) == uint64_t(-4));
  CHECK(value_of({0x35, 0x33, 0x27}) == 6);
  CHECK(value_of({0x09, 0xff, 0x31, 0x2d}) == 1);  // -1 < 1
  CHECK(value_of({0x09, 0xff, 0x31, 0x2b}) == 0);
  CHECK(value_of({0x31, 0x31, 0x29}) == 1);
  CHECK(value_of({0x31, 0x31, 0x2e}) == 0);
  CHECK(run({0x31, 0x30, 0x1b}).status == EvaluationStatus::Unsupported);
  CHECK(run({0x31, 0x30, 0x1d}).status == EvaluationStatus::Unsupported);
}

TEST_CASE("branches go where they say and a loop without end is given up") {
  CHECK(value_of({0x31, 0x28, 1, 0, 0x35, 0x36}) == 6);         // taken over one operation
  CHECK(value_of({0x30, 0x28, 1, 0, 0x35, 0x36, 0x22}) == 11);  // not taken
  CHECK(value_of({0x35, 0x2f, 1, 0, 0x13}) == 5);
  CHECK(run({0x2f, 0xfd, 0xff}).status == EvaluationStatus::Unsupported);
  CHECK(run({0x31, 0x2f, 0x00, 0x40}).status == EvaluationStatus::Unsupported);
}

TEST_CASE("loads of every size, and of what cannot be read") {
  const uint64_t word = 0x8877665544332211;
  const auto at = reinterpret_cast<uint64_t>(&word);
  CHECK(run({0x06}, &at).value == word);
  CHECK(run({0x94, 4}, &at).value == 0x44332211);
  CHECK(run({0x94, 1}, &at).value == 0x11);
  CHECK(run({0x94, 3}, &at).status == EvaluationStatus::Unsupported);
  CHECK(run({0x38, 0x06}).status == EvaluationStatus::Unreadable);
}

TEST_CASE("expressions that are cut short, empty, or overflow the stack are refused") {
  CHECK(run({}).status == EvaluationStatus::Unsupported);
  CHECK(run({0x0e, 1, 2}).status == EvaluationStatus::Unsupported);
  CHECK(run({0x22}).status == EvaluationStatus::Unsupported);
  CHECK(run({0xf3}).status == EvaluationStatus::Unsupported);
  CHECK(run(std::vector<uint8_t>(33, 0x31)).status == EvaluationStatus::Unsupported);
  CHECK(run(std::vector<uint8_t>(32, 0x31)).status == EvaluationStatus::Ok);
}
