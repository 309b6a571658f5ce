#include "check/compare_runs.h"

#include "program/materialise.h"

#include <sstream>

namespace repro_minify {

ModuleFactory factory_for(std::shared_ptr<const Program> program, const Backend &backend) {
  if (backend.traits().needs_flat_graph)
    return factory_of(std::move(program));
  return [program = std::move(program)](const InstantiateOptions &options) {
    return instantiate_in_parts(*program, options);
  };
}

// The settings that a Verdict depends on, besides the Program and the backend.

namespace {

template <typename T> std::string printed(const T &value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

void add_compare_options(Identity &identity, const CompareOptions &compare) {
  identity.add("--compare", to_string(compare.rule));
  identity.add("cosine similarity", compare.cos_similarity);
  identity.add("tolerance", compare.tol);
  identity.add("NaN equal to NaN", compare.equal_nan);
  identity.add("exact dtype", compare.exact_dtype);
  identity.add("floating point only", compare.ignore_non_fp);
  identity.add("larger multiplier for smaller tensors", compare.use_larger_multiplier_for_smaller_tensor);
  identity.add("largest multiplier always", compare.force_max_multiplier);
  identity.add("tolerance by dtype", compare.tol_by_dtype);
  identity.add("IoU for bool", compare.use_iou_for_bool);
  identity.add("IoU threshold", compare.iou_threshold);
}

} // namespace

Identity identity_of(const CheckOptions &options) {
  Identity identity;
  identity.add("device", printed(options.device));
  identity.add("gradients", options.grad);
  identity.add("seed", options.seed);
  identity.add("threads", options.threads);
  identity.add("autocast", options.autocast);
  identity.add("autocast's dtype", printed(options.autocast_dtype));
  identity.add("determinism", to_string(options.determinism));
  identity.add("TF32", options.tf32);
  identity.add("mode", options.mode == CheckMode::Run ? "run" : "accuracy");
  identity.add("calls", options.calls);
  identity.add("eager calls", options.eager_calls);
  identity.add("only forward", options.only_forward);
  identity.add("fp64 required", options.require_fp64);
  add_compare_options(identity, options.compare);
  return identity;
}

} // namespace repro_minify
