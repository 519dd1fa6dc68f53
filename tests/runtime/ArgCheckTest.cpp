//===- ArgCheckTest.cpp - the checks of NVFP4RT_CHECK, each of them ---------===//
//
// Every rule of every family is broken once, on arguments that are right but for
// that; every member of every struct has a rule (rules P1, P2 and the comments of
// nvfp4rt_args.h).
//
//===------------------------------------------------------------------------===//
#include "runtime/plan/ArgCheck.h"
#include "runtime/args/ArgRules.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <set>

using namespace nvfp4rt;

namespace {

int64_t symbolOf(Field field, std::string_view symbol) {
  return symbolValue(field, symbol).value();
}

/// A variant of a family whose guard has every field that a rule asks for.
Variant variantOf(std::string family, std::string_view phase, std::string_view planes,
                  uint64_t workspace) {
  Variant variant;
  variant.name = "the_variant";
  variant.family = std::move(family);
  variant.workspace.fixed = workspace;
  const auto equal = [&](Field field, int64_t value) {
    variant.guard.terms.push_back({field, Relation::Equal, {value}});
  };
  equal(Field::phase, symbolOf(Field::phase, phase));
  variant.guard.terms.push_back({Field::requests, Relation::Range, {33, 48}});
  equal(Field::planes, symbolOf(Field::planes, planes));
  equal(Field::kv_format, symbolOf(Field::kv_format, "nvfp4"));
  equal(Field::index_format, symbolOf(Field::index_format, "nvfp4"));
  equal(Field::q_heads, 16);
  equal(Field::kv_heads, 2);
  equal(Field::index_heads, 4);
  equal(Field::head_dim, 128);
  equal(Field::index_head_dim, 128);
  equal(Field::page_size, 128);
  equal(Field::top_k, 16);
  equal(Field::rotary_dim, 64);
  return variant;
}

/// The argument segment of a family, member by member.
class Segment {
public:
  explicit Segment(const std::string &family) : layout(*argLayout(family)), bytes(layout.size) {
    uint64_t address = 0x100000;
    for (const ArgField &field : layout.fields) {
      if (field.type == ArgType::Pointer)
        set(field.name, static_cast<int64_t>(address += 0x100000));
      else if (field.name.ends_with("page_stride"))
        set(field.name, 1 << 18);
      else if (field.name.ends_with("token_stride"))
        set(field.name, 1 << 10);
      else if (field.name.ends_with("stride"))
        set(field.name, 1 << 7);
      else if (field.type == ArgType::F32)
        setFloat(field.name, 0.125f);
      else if (field.name == "index_branch")
        set(field.name, 1);
      else if (field.name != "reserved")
        set(field.name, 7);
    }
  }

  void set(std::string_view name, int64_t value) {
    const ArgField &field = at(name);
    std::memcpy(bytes.data() + field.offset, &value, argTypeSize(field.type));
  }
  void setFloat(std::string_view name, float value) {
    std::memcpy(bytes.data() + at(name).offset, &value, sizeof(value));
  }
  int64_t get(std::string_view name) const {
    int64_t value = 0;
    std::memcpy(&value, bytes.data() + at(name).offset, argTypeSize(at(name).type));
    return value;
  }
  const ArgField &at(std::string_view name) const { return layout.fields[*layout.indexOf(name)]; }
  const void *data() const { return bytes.data(); }

private:
  const ArgLayout &layout;
  std::vector<uint8_t> bytes;
};

std::vector<Variant> everyUse(const std::string &family) {
  return {variantOf(family, "prefill", "kvi", 64), variantOf(family, "prefill", "kvi", 0)};
}

void expectBad(const ArgCheck &check, const Segment &segment, std::string_view name,
               std::string_view expected) {
  const Result<void> result = check.run(segment.data());
  ASSERT_FALSE(result) << name << ": " << expected;
  EXPECT_EQ(result.error().code, NVFP4RT_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(result.error().message.starts_with("launch of the_variant: NVFP4RT_CHECK: args." +
                                                 std::string(name)))
      << result.error().message;
  EXPECT_NE(result.error().message.find(expected), std::string::npos) << result.error().message;
}

constexpr const char *kFamilies[] = {
#define NVFP4_FAMILY(name, CamelName) #name,
#include "templates/Families.def"
};

} // namespace

TEST(ArgRules, EveryMemberHasARule) {
  for (const char *family : kFamilies) {
    std::set<std::string_view> named;
    for (const Variant &variant : everyUse(family)) {
      const ArgCheck check(variant);
      for (std::string_view member : check.members())
        named.insert(member);
    }
    for (const ArgField &field : argLayout(family)->fields) {
      // LaunchShape looks at `reserved`; a pool of one head has no head stride.
      const bool exempt = field.name == "reserved" ||
                          (field.name.starts_with("index_") && !field.name.starts_with("index_q") &&
                           field.name.ends_with(".head_stride"));
      EXPECT_EQ(named.count(field.name), exempt ? 0u : 1u) << family << " " << field.name;
    }
  }
}

TEST(ArgRules, RightArgumentsPass) {
  for (const char *family : kFamilies)
    for (const Variant &variant : everyUse(family)) {
      const Result<void> result = ArgCheck(variant).run(Segment(family).data());
      EXPECT_TRUE(result) << result.error().message;
    }
}

TEST(ArgCheck, EachMemberBrokenOnce) {
  size_t broken = 0;
  for (const char *family : kFamilies)
    for (const Variant &variant : everyUse(family)) {
      const ArgCheck check(variant);
      for (std::string_view name : check.members()) {
        const Segment right(family);
        const ArgField &field = right.at(name);
        if (field.type == ArgType::Pointer) {
          Segment null = right, odd = right;
          null.set(name, 0);
          if (family == std::string_view("qk_norm_rope_store") && name.ends_with("slots"))
            EXPECT_TRUE(check.run(null.data())) << name; // a layer that stores less
          else
            expectBad(check, null, name, "expected a device address, found NULL");
          odd.set(name, right.get(name) + 2); // no pointer is of less than 4 bytes
          expectBad(check, odd, name, "expected a multiple of ");
          broken += 2;
        } else if (field.type == ArgType::F32) {
          for (float value : {NAN, INFINITY, -INFINITY}) {
            Segment infinite = right;
            infinite.setFloat(name, value);
            expectBad(check, infinite, name, "expected a finite number");
          }
          ++broken;
        } else if (name.ends_with("stride")) {
          Segment odd = right;
          odd.set(name, right.get(name) + 2);
          expectBad(check, odd, name, "expected a multiple of ");
          ++broken;
        }
      }
    }
  EXPECT_GT(broken, 150u);
}

TEST(ArgCheck, Counts) {
  const struct {
    const char *family, *member;
    int64_t value;
    const char *expected;
  } cases[] = {
      {"kv_store", "pages", -1, "at least 0, found -1"},
      {"kv_store", "index_pages", INT64_MIN, "at least 0"},
      {"step_map", "workers", 0, "at least 1, found 0"},
      {"step_map", "requests", 49, "at most 48, found 49"}, // the guard's bound
      {"index_topk", "workers", 0, "at least 1, found 0"},
      {"sparse_attention", "pages", -7, "at least 0, found -7"},
      {"qk_norm_rope_store", "index_branch", 2, "at most 1, found 2"},
      {"qk_norm_rope_store", "pages", -1, "at least 0, found -1"},
  };
  for (const auto &test : cases) {
    const ArgCheck check(variantOf(test.family, "decode", "kvi", 0));
    Segment segment(test.family);
    segment.set(test.member, test.value);
    expectBad(check, segment, test.member, test.expected);
  }
  const ArgCheck check(variantOf("step_map", "decode", "kvi", 0));
  Segment segment("step_map");
  segment.set("requests", 48);
  EXPECT_TRUE(check.run(segment.data()));
}

TEST(ArgCheck, BlocksThatAreAlwaysChosenFitTheList) { // K2
  for (const char *family : {"topk", "index_topk"}) {
    const ArgCheck check(variantOf(family, "decode", "kvi", 0));
    Segment segment(family);
    segment.set("init_blocks", 9); // and 7 local ones
    EXPECT_TRUE(check.run(segment.data()));
    segment.set("init_blocks", 10);
    expectBad(check, segment, "init_blocks + local_blocks", "at most 16, found 17");
    segment.set("init_blocks", UINT32_MAX); // the sum does not wrap
    expectBad(check, segment, "init_blocks + local_blocks", "found 4294967302");
  }
}

TEST(ArgCheck, NeighboursOfAPlaneDoNotOverlap) {
  const ArgCheck check(variantOf("kv_store", "decode", "kvi", 0));
  const auto bad = [&](const char *name, int64_t value, const char *expected) {
    Segment segment("kv_store");
    segment.set(name, value);
    expectBad(check, segment, name, expected);
  };
  bad("k_payload.token_stride", 60, "at least the 64 bytes of a token and head, found 60");
  bad("k_payload.head_stride", 0, "at least the 64 bytes");
  bad("v_scale.head_stride", 4, "at least the 8 bytes of a token and head, found 4");
  bad("index_payload.page_stride", -60, "at least the 64 bytes of a token and head, found -60");
  Segment segment("kv_store");
  segment.set("k_payload.token_stride", 64);
  segment.set("v_payload.token_stride", -64); // any order of tokens
  EXPECT_TRUE(check.run(segment.data()));
  segment.set("pages", 1); // no second page
  segment.set("k_payload.page_stride", 0);
  segment.set("k_scale.page_stride", 0);
  EXPECT_TRUE(check.run(segment.data()));
}

TEST(ArgCheck, AReaderAddressesAPageIn32Bits) {
  const ArgCheck check(variantOf("sparse_attention", "decode", "kvi", 0));
  Segment segment("sparse_attention");
  segment.set("k_payload.token_stride", 16909312); // * 127 + 128 + 64 bytes: just below 2^31
  EXPECT_TRUE(check.run(segment.data()));
  segment.set("k_payload.token_stride", 16909312 + 16);
  expectBad(check, segment, "k_payload.token_stride and head_stride",
            "a page below 2147483648 bytes");
  for (int64_t stride : {INT64_MAX & ~int64_t{15}, INT64_MIN}) {
    segment.set("k_payload.token_stride", stride);
    expectBad(check, segment, "k_payload.token_stride and head_stride", "a page below");
  }
  Segment pages("sparse_attention");
  pages.set("v_scale.page_stride", int64_t{1} << 32);
  expectBad(check, pages, "v_scale.page_stride", "at most 4294967295");
  pages.set("v_scale.page_stride", -(int64_t{1} << 18));
  expectBad(check, pages, "v_scale.page_stride", "at least 0");
}

TEST(ArgCheck, WhatAVariantDoesNotUseIsNotLookedAt) {
  Segment segment("kv_store");
  for (const char *name : {"v.base", "v_payload.base", "v_scale.token_stride", "index_k.base",
                           "index_slots", "index_payload.base"})
    segment.set(name, 0);
  EXPECT_TRUE(ArgCheck(variantOf("kv_store", "decode", "k", 0)).run(segment.data()));
  expectBad(ArgCheck(variantOf("kv_store", "decode", "kv", 0)), segment, "v.base", "found NULL");
  expectBad(ArgCheck(variantOf("kv_store", "decode", "ki", 0)), segment, "index_slots",
            "found NULL");

  Segment map("step_map");
  map.set("cu_seqlens_q", 0);
  EXPECT_TRUE(ArgCheck(variantOf("step_map", "verify", "kvi", 0)).run(map.data()));
  expectBad(ArgCheck(variantOf("step_map", "prefill", "kvi", 0)), map, "cu_seqlens_q",
            "found NULL");

  Segment attention("sparse_attention");
  attention.set("out", 0);
  EXPECT_TRUE(ArgCheck(variantOf("sparse_attention", "decode", "kvi", 64)).run(attention.data()));
  expectBad(ArgCheck(variantOf("sparse_attention", "decode", "kvi", 0)), attention, "out",
            "found NULL");
}

// W2: what a layer leaves out may be zero, and is looked at when it is there.
TEST(ArgCheck, ALayerMayLeaveOut) {
  const ArgCheck check(variantOf("qk_norm_rope_store", "decode", "kvi", 0));
  const struct {
    const char *without, *members[5];
  } cases[] = {
      {"slots", {"k_weight", "k_payload.base", "v_scale.base", "v_payload.base", "k_scale.base"}},
      {"index_slots", {"index_k_weight", "index_payload.base", "index_scale.base"}},
      {"index_branch",
       {"index_q_weight", "index_k_weight", "index_q_out", "index_payload.base", "index_slots"}},
  };
  for (const auto &test : cases) {
    Segment left("qk_norm_rope_store");
    left.set(test.without, 0);
    for (const char *name : test.members)
      if (name)
        left.set(name, 0);
    EXPECT_TRUE(check.run(left.data())) << test.without;
    for (const char *name : test.members)
      if (name && std::string_view(name) != "index_slots") {
        Segment one("qk_norm_rope_store");
        one.set(name, 0);
        expectBad(check, one, name, "found NULL");
      }
  }
  Segment both("qk_norm_rope_store"); // no index slots: index_q is written all the same
  both.set("index_slots", 0);
  both.set("index_q_out", 0);
  expectBad(check, both, "index_q_out", "found NULL");
  Segment turned("qk_norm_rope_store");
  turned.set("cos_sin", 0);
  expectBad(check, turned, "cos_sin", "found NULL");
  Variant still = variantOf("qk_norm_rope_store", "decode", "kvi", 0);
  still.guard.terms.back().values = {0}; // rotary_dim
  EXPECT_TRUE(ArgCheck(still).run(turned.data()));
  for (float eps : {0.0f, -1e-6f}) {
    Segment segment("qk_norm_rope_store");
    segment.setFloat("eps", eps);
    expectBad(check, segment, "eps", "expected a number above 0");
  }
}
