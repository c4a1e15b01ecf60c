#include <catch2/catch.hpp>

#include "prof/report/output.h"
#include "tests/report/example.h"
#include "tests/report/rendered.h"

using namespace prof;
using namespace prof::test;

namespace {

Rendered csv(const Database& database, ReportView view, bool statistics = false) {
  ReportOptions options;
  options.view = view;
  options.format = ReportFormat::Csv;
  options.statistics = statistics;
  options.threshold_percent = 0;
  return rendered(database, options);
}

}  // namespace

TEST_CASE("csv has one line per row under a header with units") {
  const std::vector<std::string> lines = lines_of(csv(example(), ReportView::TopDown).text);
  REQUIRE(lines.size() == 11);
  CHECK(lines[0] ==
        "id,parent,depth,function,file,line,module,offset,inlined,CPUTIME inclusive (sec),CPUTIME exclusive "
        "(sec)");
  CHECK(lines[1] == "0,,0,main thread,,,,,false,6,0");
  CHECK(lines[3] == "2,1,2,slow_sum,src/sum.cpp,14,/home/me/sum,0x1100,false,4.96,4.96");
  CHECK(lines[5] == "4,3,3,add,src/sum.cpp,4,/home/me/sum,0x1300,true,0.75,0.75");
  CHECK(lines[6] == "5,1,2,write,,,/lib/libc.so.6,0x1500,false,0.04,0.04");
}

TEST_CASE("csv quotes commas, quotes and line breaks as RFC 4180 asks") {
  DatabaseBuilder b;
  b.metric("L1, \"misses\"", "");
  const uint32_t t = b.thread(0);
  b.function("map<int, int>::at", "a,b.h", "/bin/x");
  b.function("operator\"\"_s", "", "/bin/x");
  b.spend(t, {{"map<int, int>::at", 1}, {"operator\"\"_s"}, {"two\nlines", 1}}, 2);
  const std::string text = csv(b.build(), ReportView::TopDown).text;
  CHECK(text.find(",\"L1, \"\"misses\"\" inclusive\",") != std::string::npos);
  CHECK(text.find("\n1,0,1,\"map<int, int>::at\",\"src/a,b.h\",1,") != std::string::npos);
  CHECK(text.find("\n2,1,2,\"operator\"\"\"\"_s\",,,") != std::string::npos);
  CHECK(text.find("\n3,2,3,\"two\nlines\",") != std::string::npos);
}

TEST_CASE("cells of a spreadsheet hold no formula and no escape sequence, and numbers stay numbers") {
  CHECK(csv_field("=HYPERLINK(1)") == "'=HYPERLINK(1)");
  CHECK(csv_field("+cmd|x") == "'+cmd|x");
  CHECK(csv_field("-[NSObject init]") == "'-[NSObject init]");
  CHECK(csv_field("@SUM(A1,2)") == "\"'@SUM(A1,2)\"");
  CHECK(csv_field("\tx") == "'\tx");
  CHECK(csv_field("\r=x") == "\"'\r=x\"");
  CHECK(csv_field("-5") == "-5");
  CHECK(csv_field("+1.5e3") == "+1.5e3");
  CHECK(csv_field("a\033[2J\u009b") == "a\\x1b[2J\\u009b");
  CHECK(csv_field("operator-=") == "operator-=");
}

TEST_CASE("csv statistics are columns of their own") {
  const std::vector<std::string> lines = lines_of(csv(example(), ReportView::Flat, true).text);
  REQUIRE(lines.size() == 7);
  CHECK(lines[0].substr(lines[0].find("CPUTIME")) ==
        "CPUTIME inclusive (sec),CPUTIME inclusive min (sec),CPUTIME inclusive mean (sec),"
        "CPUTIME inclusive max (sec),CPUTIME inclusive stddev (sec),CPUTIME exclusive (sec),"
        "CPUTIME exclusive min (sec),CPUTIME exclusive mean (sec),CPUTIME exclusive max (sec),"
        "CPUTIME exclusive stddev (sec),CPUTIME threads");
  CHECK(lines[2] ==
        "1,,0,add,src/sum.cpp,4,/home/me/sum,0x1300,true,2.75,0.75,1.375,2,0.625,2.75,0.75,1.375,2,0.625,2");
}

TEST_CASE("the summary as csv names every number") {
  const std::string text = csv(example(), ReportView::Summary).text;
  for (const char* line : {"section,name,value,unit\n", "run,command,./sum 1000000,\n", "run,wall,4.02,sec\n",
                           "total,CPUTIME,8,sec\n", "sampling,delivered,640,Hz\n", "dropped,overrun,80,\n",
                           "stacks,broken,614,\n", "overhead,cpu,0.08,sec\n"}) {
    CAPTURE(line);
    CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("an empty database is a header") {
  CHECK(csv(Database{}, ReportView::Flat).text ==
        "id,parent,depth,function,file,line,module,offset,inlined\n");
}
