//===- IndexConfig.cpp - what a guard says to the block selectors -----------===//
//
// Owns: what IndexConfig.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/IndexConfig.h"

#include <algorithm>
#include <fmt/format.h>

namespace verify::index {

using nvfp4rt::Field;

oracle::StepMapShape Config::stepMapShape() const {
  oracle::StepMapShape result;
  result.phase = phase;
  result.queryLen = static_cast<uint32_t>(queryLen);
  result.blockSize = static_cast<uint32_t>(shape.blockSize);
  return result;
}

nvfp4rt::Result<Config> readConfig(const nvfp4rt::Request &request, Needs needs) {
  Config config;
  config.request = request;
  nvfp4rt::Error error;
  bool complete = true;
  auto read = [&](Field field, bool needed, int64_t &to) {
    if (!complete)
      return;
    if (needed) {
      auto value = needField(request, field);
      if (!value) {
        error = std::move(value.error());
        complete = false;
        return;
      }
    }
    to = request.get(field).value_or(to);
  };
  int64_t phase = 0, dtype = 0;
  oracle::IndexShape &shape = config.shape;
  read(Field::phase, needs.step, phase);
  read(Field::query_len, needs.step, config.queryLen);
  read(Field::requests, true, config.requests);
  read(Field::dtype, needs.scorer, dtype);
  read(Field::index_heads, needs.scorer || needs.heads, shape.indexHeads);
  read(Field::index_head_dim, needs.scorer, shape.headDim);
  read(Field::page_size, needs.scorer, shape.pageSize);
  read(Field::block_size, needs.scorer || needs.blocks, shape.blockSize);
  read(Field::top_k, needs.topK, shape.topK);
  if (!complete)
    return tl::unexpected(std::move(error));
  if (needs.scorer)
    if (auto format = needNvfp4(request, Field::index_format); !format)
      return tl::unexpected(std::move(format.error()));

  const std::string phaseName = nvfp4rt::valueText(Field::phase, phase);
  config.phase = phaseName == "decode"   ? oracle::Phase::Decode
                 : phaseName == "verify" ? oracle::Phase::Verify
                                         : oracle::Phase::Prefill;
  shape.dtype =
      nvfp4rt::valueText(Field::dtype, dtype) == "bf16" ? oracle::DType::BF16 : oracle::DType::FP16;
  shape.segmentRows = config.prefill() ? NVFP4RT_PREFILL_SEGMENT_ROWS : config.queryLen;
  const bool nests =
      shape.blockSize > 0 && shape.pageSize > 0 &&
      (shape.blockSize % shape.pageSize == 0 || shape.pageSize % shape.blockSize == 0); // P3
  if (config.requests < 1 || (config.queryLen < 1) != config.prefill() || shape.indexHeads < 1 ||
      shape.headDim < 16 || shape.headDim % 16 != 0 || shape.topK < 1 || !nests)
    return nvfp4rt::fail(NVFP4RT_ERROR_INVALID_ARGUMENT,
                         fmt::format("guard: expected at least one request, head and block, Q of 0 "
                                     "in prefill and else of 1 or more, heads of whole groups, and "
                                     "pages that nest with blocks; found {}",
                                     request.text()));
  return config;
}

bool cornerConfigs(Job &job, Needs needs, std::vector<Config> &configs) {
  for (const nvfp4rt::Request &request : cornerRequests(job.variant.guard)) {
    auto config = readConfig(request, needs);
    if (!config) {
      job.fault(config.error().message);
      return false;
    }
    configs.push_back(*config);
  }
  std::sort(configs.begin(), configs.end(), [](const Config &a, const Config &b) {
    return mostRowsOf(a.request) < mostRowsOf(b.request);
  });
  return true;
}

} // namespace verify::index
