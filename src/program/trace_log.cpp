#include "program/trace_log.h"

namespace repro_minify {
namespace {

template <typename T> int64_t address_of(const T *pointer) {
  return static_cast<int64_t>(reinterpret_cast<intptr_t>(pointer));
}

template <typename T> T *at_address(int64_t address) {
  return reinterpret_cast<T *>(static_cast<intptr_t>(address));
}

} // namespace

c10::IValue TraceLog::packed() const {
  std::vector<int64_t> numbers;
  for (const auto &step : steps) {
    numbers.insert(numbers.end(), {step.kind, address_of(step.node), address_of(step.value), step.index,
                                   static_cast<int64_t>(step.operands.size())});
    numbers.insert(numbers.end(), step.operands.begin(), step.operands.end());
  }
  return c10::ivalue::Tuple::create({numbers, c10::ivalue::Tuple::create(constants), outputs});
}

TraceLog TraceLog::unpacked(const c10::IValue &packed) {
  const auto &parts = packed.toTupleRef().elements();
  const auto numbers = parts[0].toIntVector();
  TraceLog log;
  for (size_t i = 0; i < numbers.size();) {
    TraceStep step{static_cast<TraceStep::Kind>(numbers[i]),
                   at_address<torch::jit::Node>(numbers[i + 1]),
                   at_address<const torch::jit::Value>(numbers[i + 2]),
                   numbers[i + 3],
                   {}};
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(i + 5);
    step.operands.assign(begin, begin + numbers[i + 4]);
    i += 5 + step.operands.size();
    log.steps.push_back(std::move(step));
  }
  log.constants = parts[1].toTupleRef().elements().vec();
  log.outputs = parts[2].toIntVector();
  return log;
}

} // namespace repro_minify
