//===- ArgLayoutTest.cpp - the argument tables ------------------------------===//
//
// The tables are checked against the structs at compile time; this holds what a
// bundle depends on: the text that is hashed, and look-up by name.
//
//===------------------------------------------------------------------------===//
#include "runtime/args/ArgLayout.h"
#include "runtime/include/nvfp4rt_args.h"

#include <cstddef>
#include <gtest/gtest.h>

using namespace nvfp4rt;

TEST(ArgLayout, EveryFamilyHasATable) {
#define NVFP4_FAMILY(name, CamelName)                                                              \
  ASSERT_NE(argLayout(#name), nullptr);                                                            \
  EXPECT_EQ(argLayout(#name)->family, #name);                                                      \
  EXPECT_EQ(argLayout(#name)->size, sizeof(nvfp4rt_##name##_args) - kStructSizeBytes);             \
  EXPECT_EQ(nvfp4rt_##name##_args{}.struct_size, sizeof(nvfp4rt_##name##_args));
#include "templates/Families.def"
  EXPECT_EQ(argLayout("kv_stor"), nullptr);
  EXPECT_EQ(argLayout(""), nullptr);
}

TEST(ArgLayout, KvStoreMembersByName) {
  const ArgLayout &layout = *argLayout("kv_store");
  const auto expect = [&](std::string_view name, ArgType type, size_t offset) {
    const std::optional<size_t> index = layout.indexOf(name);
    ASSERT_TRUE(index) << name;
    EXPECT_EQ(layout.fields[*index].type, type) << name;
    EXPECT_EQ(layout.fields[*index].offset + kStructSizeBytes, offset) << name;
  };
  expect("k.base", ArgType::Pointer, kStructSizeBytes);
  expect("index_k.head_stride", ArgType::I64, offsetof(nvfp4rt_kv_store_args, index_k.head_stride));
  expect("v_scale.token_stride", ArgType::I64,
         offsetof(nvfp4rt_kv_store_args, v_scale.token_stride));
  expect("index_slots", ArgType::Pointer, offsetof(nvfp4rt_kv_store_args, index_slots));
  expect("rows", ArgType::I32, offsetof(nvfp4rt_kv_store_args, rows));
  EXPECT_FALSE(layout.indexOf("row"));
  EXPECT_EQ(layout.fields.size(), 39u);
}

// A change of this text is a change of the bundle format: old bundles are refused by their hash.
TEST(ArgLayout, TextOfKvStore) {
  const std::string text = argLayout("kv_store")->text();
  EXPECT_TRUE(text.starts_with("0 8 pointer k.base\n8 8 i64 k.row_stride\n16 8 i64 k.head_stride\n"
                               "24 8 pointer v.base\n"));
  EXPECT_TRUE(text.ends_with("280 8 i64 pages\n288 8 i64 index_pages\n296 4 i32 rows\n"
                             "300 4 i32 reserved\nsize 304\n"));
}
