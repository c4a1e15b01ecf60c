#include "analysis/views/tree/wording.h"
#include "analysis/words/short_names.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace prof;

TEST_CASE("durations, bytes, shares and counts read naturally") {
  CHECK(format_duration(0.003) == "3 ms");
  CHECK(format_duration(0.00000012) == "0 us");
  CHECK(format_duration(0.9999) == "1.00 s");
  CHECK(format_duration(4.02) == "4.02 s");
  CHECK(format_duration(75.34) == "75.3 s");
  CHECK(format_duration(725) == "12 min 5 s");
  CHECK(format_duration(3600 * 26 + 120) == "26 h 2 min");
  CHECK(format_bytes(640) == "640 B");
  CHECK(format_bytes(2202009) == "2.1 MiB");
  CHECK(format_percent(0.624) == "62 %");
  CHECK(format_percent(0.0624) == "6.2 %");
  CHECK(format_percent(0.0001) == "< 0.1 %");
  CHECK(format_percent(0) == "0 %");
  CHECK(format_count(1, "thread") == "1 thread");
  CHECK(format_count(2, "process") == "2 processes");
}

TEST_CASE("what is not a number is never printed as one") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(format_duration(nan) == "0 s");
  CHECK(format_bytes(nan) == "0 B");
  CHECK(format_percent(nan) == "0 %");
}

TEST_CASE("long names lose their middle, by characters and not by bytes") {
  CHECK(shorten_middle("short", 10) == "short");
  CHECK(shorten_middle("abcdefghijklmnop", 9) == "abc...nop");
  CHECK(shorten_middle("abcdefghijklmnop", 10) == "abcd...nop");
  CHECK(columns_of("Grüße") == 5);
  CHECK(shorten_middle("äöüäöüäöü", 7) == "äö...öü");
}

TEST_CASE("a function's own name is the last thing to be shortened") {
  const auto shortened = [](const char* name, size_t columns) {
    const std::string text = shorten_name(name, columns);
    CHECK(columns_of(text) <= columns);
    return text;
  };
  CHECK(shortened("run(int)", 10) == "run(int)");
  CHECK(shortened("Store::get(std::string const&, unsigned long)", 24) == "Store::get(...)");
  CHECK(shortened("Store::get(std::string const&, unsigned long) const", 12) == "Store::get");
  CHECK(shortened("std::vector<std::pair<int, Row>, Pool<Row>>::push(Row&&)", 50) ==
        "std::vector<std::pair<...>, Pool<Row>>::push(...)");
  CHECK(shortened("std::vector<std::pair<int, Row>, Pool<Row>>::push(Row&&)", 30) ==
        "std::vector<...>::push(...)");
  CHECK(shortened("one::two::three::four::five(int)", 20) == "...::four::five");
  CHECK(shortened("std::map<long, std::string>::operator[](long const&)", 30) ==
        "std::map<...>::operator[](...)");
  CHECK(shortened("boost::log::stream<char>::operator<<(Message const&)", 24) == "...::operator<<");
  CHECK(shortened("Less<std::string>::operator()(std::string, std::string)", 28) ==
        "Less<...>::operator()(...)");
  CHECK(shortened("app::(anonymous namespace)::turn(std::vector<long> const&)", 36) ==
        "app::(anonymous namespace)::turn");
  CHECK(shortened("operator new(unsigned long, std::nothrow_t const&)", 14) == "operator new");
  CHECK(shortened("<alloc::vec::Vec<T> as core::clone::Clone>::clone", 20) == "<...>::clone");
  CHECK(shortened("a_function_of_c_with_a_long_name", 12) == "a_fun...name");
}

TEST_CASE("a module is named unless the function's name says it already") {
  Database database;
  database.modules = {{"/usr/lib/libc.so.6"}};
  database.functions = {
      {"write", 0, 0, kNone, 0}, {"read [libc.so.6]", 0, 0, kNone, 0}, {"libc.so.6+0x10", 0, 0, kNone, 0}};
  const auto module_of = [&](uint32_t function) {
    return format_module(database, {FrameKind::Function, function, 0, 0, kNone, 0});
  };
  CHECK(module_of(0) == "libc.so.6");
  CHECK(module_of(1).empty());
  CHECK(module_of(2).empty());
  CHECK(format_module(database, {}).empty());
}

TEST_CASE("a file without a line is no place to send a reader to") {
  CHECK_FALSE(definition({FrameKind::Function, 0, kNone, 0, 3, 0}).known());
  CHECK(definition({FrameKind::Function, 0, kNone, 0, 3, 12}) == SourceLocation{3, 12});
}
