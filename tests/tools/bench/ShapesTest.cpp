//===- ShapesTest.cpp - the shape tables --------------------------------------===//

#include "tools/bench/Shapes.h"

#include "runtime/guard/Guard.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace {

using bench::Shape;
using testing::ElementsAre;

const Shape &shapeOf(std::string_view name) {
  for (std::span<const Shape> table :
       {bench::rowShapes(), bench::contextShapes(), bench::attentionShapes()})
    for (const Shape &shape : table)
      if (shape.name == name)
        return shape;
  ADD_FAILURE() << "no shape " << name;
  return bench::rowShapes()[0];
}

TEST(Shapes, NamesAreUniqueAndPhasesAreKnown) {
  std::set<std::string_view> names;
  for (std::span<const Shape> table :
       {bench::rowShapes(), bench::contextShapes(), bench::attentionShapes()})
    for (const Shape &shape : table) {
      EXPECT_TRUE(names.insert(shape.name).second) << shape.name;
      EXPECT_TRUE(nvfp4rt::symbolValue(nvfp4rt::Field::phase, shape.phase)) << shape.phase;
      EXPECT_EQ(shape.isPrefill(), shape.phase == "prefill");
      EXPECT_EQ(shape.seqLens().size(), static_cast<size_t>(shape.requests()));
      for (int64_t len : shape.seqLens()) {
        EXPECT_GE(len, shape.rowsPerRequest());
        EXPECT_LE(len, 1'048'576);
      }
    }
}

TEST(Shapes, RowsOfWriters) {
  std::vector<int64_t> rows;
  for (const Shape &shape : bench::rowShapes())
    rows.push_back(shape.rows());
  EXPECT_THAT(rows, ElementsAre(1, 8, 64, 384, 4096, 32768));
}

TEST(Shapes, ContextsOfReaders) {
  EXPECT_EQ(shapeOf("bs8-mixed-q8").rows(), 64);
  EXPECT_THAT(shapeOf("bs8-mixed-q1").seqLens(),
              ElementsAre(460'800, 153'600, 153'600, 153'600, 153'600, 153'600, 153'600, 153'600));
  EXPECT_THAT(shapeOf("bs1-1m-q1").seqLens(), ElementsAre(1'048'576));
  EXPECT_EQ(shapeOf("bs48-274k-q8").rows(), 384);
  EXPECT_EQ(shapeOf("bs128-8k-q1").rows(), 128);
  EXPECT_THAT(shapeOf("prefill-32k-100k").seqLens(), ElementsAre(132 * 1024));
  EXPECT_EQ(shapeOf("prefill-32k-100k").rows(), 32 * 1024);
}

TEST(Shapes, RowsOfAttention) {
  std::vector<int64_t> rows;
  for (const Shape &shape : bench::attentionShapes()) {
    rows.push_back(shape.rows());
    for (int64_t len : shape.seqLens())
      EXPECT_GE((len - shape.rowsPerRequest()) / 128, 16) << shape.name; // lists are full
  }
  EXPECT_THAT(rows, ElementsAre(1, 8, 8, 64, 64, 384, 384, 4096));
}

// A sample is the middle rows of the chunk, with the contexts that they have in it.
TEST(Shapes, SamplesComeFromTheMiddle) {
  const Shape sample = bench::sampled(shapeOf("prefill-16k-100k"), 16);
  EXPECT_EQ(sample.rows(), 1024);
  EXPECT_EQ(sample.fullChunk, 16384);
  const int64_t before = (16384 - 1024) / 2;
  EXPECT_THAT(sample.seqLens(), ElementsAre(100 * 1024 + before + 1024));
  // Never less than a segment, never more than all.
  EXPECT_EQ(bench::sampled(shapeOf("rows-4096"), 1000).rows(), 64);
  EXPECT_EQ(bench::sampled(shapeOf("rows-4096"), 1).rows(), 4096);
  EXPECT_EQ(bench::sampled(shapeOf("bs128-8k-q1"), 16).rows(), 128);
}

} // namespace
