#include "check/operator_count.h"

#include <ATen/record_function.h>

#include <memory>

namespace repro_minify {
namespace {

/// Callbacks are plain functions.
thread_local OperatorCalls *counted = nullptr;
thread_local int depth = 0;

std::unique_ptr<at::ObserverContext> begin_call(const at::RecordFunction &function) {
  if (++depth == 1 && counted)
    ++(*counted)[function.name()];
  return nullptr;
}

void end_call(const at::RecordFunction &, at::ObserverContext *) {
  --depth;
}

} // namespace

OperatorCounter::OperatorCounter(OperatorCalls &calls)
    : handle_(at::addThreadLocalCallback(
          at::RecordFunctionCallback(begin_call, end_call).scopes({at::RecordScope::FUNCTION}))) {
  depth = 0;
  counted = &calls;
}

OperatorCounter::~OperatorCounter() {
  counted = nullptr;
  at::removeCallback(handle_);
}

std::vector<std::string> rewritten_operators(const OperatorCalls &eager, const OperatorCalls &optimised) {
  std::vector<std::string> rewritten;
  for (const auto &[name, calls] : eager) {
    const auto found = optimised.find(name);
    if (found == optimised.end() || found->second < calls)
      rewritten.push_back(name);
  }
  return rewritten;
}

} // namespace repro_minify
