//===- TableTest.cpp - columns are aligned ------------------------------------===//

#include "tools/support/Table.h"

#include <gtest/gtest.h>

namespace {

using support::Table;

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
  Table table({"shape", "B", "ratio"});
  table.add({"a", "1234", "1.0"});
  table.add({"longer name", "5", ""});
  EXPECT_EQ(table.text(), "shape           B  ratio\n"
                          "------------------------\n"
                          "a            1234    1.0\n"
                          "longer name     5\n");
}

TEST(Table, NamedColumnsAreLeftAligned) {
  Table table({"name", "n", "result"}, {0, 2});
  table.add({"x", "10", "pass, some skipped"});
  table.add({"yy", "9", "FAIL"});
  EXPECT_EQ(table.text(), "name   n  result\n"
                          "----------------\n"
                          "x     10  pass, some skipped\n"
                          "yy     9  FAIL\n");
}

TEST(Table, HeadAlone) { EXPECT_EQ(Table({"a", "bc"}).text(), "a  bc\n-----\n"); }

} // namespace
