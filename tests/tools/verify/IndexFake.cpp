//===- IndexFake.cpp - block selectors that are wrong on purpose ------------===//
//
// Owns: what IndexFake.h declares.
//
//===------------------------------------------------------------------------===//
#include "tests/tools/verify/IndexFake.h"
#include "tests/tools/verify/IndexFakeKernels.h"

#include <cstring>

namespace fake {

using nvfp4rt::Field;
using nvfp4rt::Relation;
using nvfp4rt::Result;

Result<void> IndexFake::launch(const nvfp4rt::Variant &variant, const nvfp4rt::Request &request,
                               const void *bytes, size_t size) {
  const IndexFault now = variant.family == family ? fault : IndexFault::None;
  if (now == IndexFault::LaunchFails)
    return nvfp4rt::fail(NVFP4RT_ERROR_HIP, "fake launch failed");
  auto config = verify::index::readConfig(request, {});
  if (!config)
    return tl::unexpected(config.error());
  auto take = [&](auto &args) {
    if (size == sizeof(args))
      std::memcpy(&args, bytes, size);
    return size == sizeof(args);
  };
  nvfp4rt_step_map_args map;
  nvfp4rt_index_score_args score;
  nvfp4rt_topk_args select;
  nvfp4rt_index_topk_args fused;
  nvfp4rt_index_topk_merge_args last;
  if (variant.family == "step_map" && take(map))
    stepMap(*config, map, now);
  else if (variant.family == "index_score" && take(score))
    indexScore(*config, score, now);
  else if (variant.family == "topk" && take(select))
    topk(*config, select, now);
  else if (variant.family == "index_topk" && take(fused))
    indexTopk(*config, fused, now);
  else if (variant.family == "index_topk_merge" && take(last))
    merge(*config, last, now);
  else
    return nvfp4rt::fail(NVFP4RT_ERROR_INVALID_ARGUMENT, "no such kernel, or other arguments");
  return {};
}

nvfp4rt::Manifest indexManifest() {
  auto symbol = [](Field field, std::string_view name) {
    return nvfp4rt::Term{field, Relation::Equal, {nvfp4rt::symbolValue(field, name).value()}};
  };
  auto integer = [](Field field, int64_t value) {
    return nvfp4rt::Term{field, Relation::Equal, {value}};
  };
  struct Bucket {
    const char *phase;
    int64_t queryLen, low, high, pageSize;
    const char *dtype;
  };
  nvfp4rt::Manifest result;
  result.specName = "fake";
  result.arch = "gfx950";
  for (const char *family : {"step_map", "index_score", "topk", "index_topk", "index_topk_merge"})
    for (const Bucket &bucket :
         {Bucket{"decode", 1, 2, 4, 16, "bf16"}, Bucket{"verify", 3, 5, 9, 64, "fp16"},
          Bucket{"prefill", 0, 1, 5, 32, "bf16"}}) {
      nvfp4rt::Variant variant;
      variant.family = family;
      variant.name = std::string(family) + "__" + bucket.phase;
      variant.symbol = variant.name;
      variant.guard.terms = {symbol(Field::phase, bucket.phase),
                             integer(Field::query_len, bucket.queryLen),
                             {Field::requests, Relation::Range, {bucket.low, bucket.high}},
                             integer(Field::block_size, 32)};
      auto add = [&](nvfp4rt::Term term) { variant.guard.terms.push_back(std::move(term)); };
      if (variant.family != "step_map")
        add(integer(Field::index_heads, 2));
      if (variant.family == "index_score" || variant.family == "index_topk")
        for (const nvfp4rt::Term &term :
             {symbol(Field::dtype, bucket.dtype), symbol(Field::index_format, "nvfp4"),
              integer(Field::index_head_dim, 128), integer(Field::page_size, bucket.pageSize)})
          add(term);
      if (variant.family.find("topk") != std::string::npos)
        add(integer(Field::top_k, 16));
      result.variants.push_back(std::move(variant));
    }
  return result;
}

} // namespace fake
