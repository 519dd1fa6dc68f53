//===- IndexPartsTest.cpp - steps, data and siblings of the selectors -------===//

#include "tests/tools/verify/IndexFake.h"
#include "tools/verify/IndexCases.h"

#include <gtest/gtest.h>

using namespace verify;
using namespace verify::index;

namespace {
TEST(Siblings, x) {}
} // namespace
