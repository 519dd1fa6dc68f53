//===- AttentionConfig.cpp - what a guard says to sparse attention ----------===//
//
// Owns: what AttentionConfig.h declares.
//
//===------------------------------------------------------------------------===//
#include "tools/verify/AttentionConfig.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace verify::attention {

using nvfp4rt::Field;

nvfp4rt::Result<Config> readConfig(const nvfp4rt::Request &request, Reader reader) {
  Config config;
  config.request = request;
  oracle::AttentionShape &shape = config.shape;
  const bool attends = reader == Reader::Attention;
  int64_t dtype = 0, qHeads = 0;
  const struct {
    Field field;
    bool needed;
    int64_t &to;
  } fields[] = {{Field::query_len, true, config.queryLen},
                {Field::requests, true, config.requests},
                {Field::dtype, true, dtype},
                {Field::q_heads, true, qHeads},
                {Field::kv_heads, true, shape.kvHeads},
                {Field::head_dim, true, shape.headDim},
                {Field::top_k, true, shape.topK},
                {Field::page_size, attends, config.pageSize},
                {Field::block_size, attends, shape.blockSize}};
  for (const auto &of : fields) {
    if (of.needed)
      if (auto value = needField(request, of.field); !value)
        return tl::unexpected(std::move(value.error()));
    of.to = request.get(of.field).value_or(of.to);
  }
  if (attends)
    if (auto format = needNvfp4(request, Field::kv_format); !format)
      return tl::unexpected(std::move(format.error()));
  shape.dtype =
      nvfp4rt::valueText(Field::dtype, dtype) == "bf16" ? oracle::DType::BF16 : oracle::DType::FP16;
  shape.scoreScale = static_cast<float>(1 / std::sqrt(double(shape.headDim))) * 1.4426950409f;
  if (auto order = request.get(Field::plane_order))
    config.orders = {nvfp4rt::valueText(Field::plane_order, *order) == "hnd" ? Order::HND
                                                                             : Order::NHD};
  else
    config.orders = {Order::NHD, Order::HND};

  const bool heads =
      shape.kvHeads >= 1 && qHeads % shape.kvHeads == 0 &&
      (qHeads / shape.kvHeads == 8 || qHeads / shape.kvHeads == Config::kPartHeads); // A5
  const bool nests =
      shape.blockSize > 0 && config.pageSize > 0 &&
      (shape.blockSize % config.pageSize == 0 || config.pageSize % shape.blockSize == 0); // P3
  if (config.requests < 1 || config.queryLen < 0 || !heads || shape.headDim < 16 ||
      shape.headDim % 16 != 0 || shape.topK < 1 || !nests)
    return nvfp4rt::fail(NVFP4RT_ERROR_INVALID_ARGUMENT,
                         fmt::format("guard: expected at least one request and block, 8 or 16 q "
                                     "heads a kv head (A5), heads of whole groups, and pages that "
                                     "nest with blocks; found {}",
                                     request.text()));
  shape.groupHeads = qHeads / shape.kvHeads;
  return config;
}

bool cornerConfigs(Job &job, Reader reader, std::vector<Config> &configs) {
  for (const nvfp4rt::Request &request : cornerRequests(job.variant.guard)) {
    auto config = readConfig(request, reader);
    if (!config) {
      job.fault(config.error().message);
      return false;
    }
    configs.push_back(std::move(*config));
  }
  std::sort(configs.begin(), configs.end(),
            [](const Config &a, const Config &b) { return a.rows() < b.rows(); });
  return true;
}

uint64_t workspaceBytes(const nvfp4rt::Variant &variant) {
  uint64_t most = 0;
  if (const nvfp4rt::Term *requests = variant.guard.find(Field::requests))
    most = static_cast<uint64_t>(requests->values.back());
  return variant.workspace.fixed + variant.workspace.perRequest * most;
}

int64_t capacityOf(const nvfp4rt::Variant &variant, const Config &config) {
  const int64_t rows = mostRowsOf(config.request);
  const uint64_t workspace = workspaceBytes(variant);
  if (workspace == 0)
    return rows;
  return std::min(rows, static_cast<int64_t>(workspace) / config.partialBytes(1));
}

} // namespace verify::attention
