#include "check/kept_runs.h"

#include "check/compare_runs.h"
#include "program/values.h"
#include "repro_minify/sandbox.h"

#include <atomic>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include <unistd.h>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

/// To write and read more than that takes as long as to run it again.
constexpr std::size_t most_kept_bytes = std::size_t{64} << 20;

c10::IValue tuple_of(std::vector<c10::IValue> values) {
  return c10::ivalue::Tuple::create(std::move(values));
}

std::vector<c10::IValue> values_of(const c10::IValue &tuple) {
  return tuple.toTupleRef().elements().vec();
}

c10::IValue packed(const std::vector<std::string> &texts) {
  return tuple_of({texts.begin(), texts.end()});
}

std::vector<std::string> texts_from(const c10::IValue &packed) {
  std::vector<std::string> texts;
  for (const c10::IValue &text : values_of(packed))
    texts.push_back(text.toStringRef());
  return texts;
}

c10::IValue packed(const std::vector<int> &numbers) {
  std::vector<c10::IValue> values;
  for (const int number : numbers)
    values.emplace_back(static_cast<std::int64_t>(number));
  return tuple_of(std::move(values));
}

std::vector<int> numbers_from(const c10::IValue &packed) {
  std::vector<int> numbers;
  for (const c10::IValue &value : values_of(packed))
    numbers.push_back(static_cast<int>(value.toInt()));
  return numbers;
}

c10::IValue packed(const OperatorCalls &operators) {
  std::vector<c10::IValue> values;
  for (const auto &[name, count] : operators)
    values.push_back(tuple_of({name, static_cast<std::int64_t>(count)}));
  return tuple_of(std::move(values));
}

OperatorCalls operators_from(const c10::IValue &packed) {
  OperatorCalls operators;
  for (const c10::IValue &pair : values_of(packed)) {
    const auto parts = values_of(pair);
    operators[parts.at(0).toStringRef()] = static_cast<int>(parts.at(1).toInt());
  }
  return operators;
}

c10::IValue packed(const Observed &observed) {
  return tuple_of({observed.output, packed(observed.gradient_names), tuple_of(observed.gradients),
                   packed(observed.state_names), tuple_of(observed.state), packed(observed.unchanged),
                   observed.has_way_back, static_cast<std::int64_t>(observed.left_out), packed(observed.operators),
                   packed(observed.gradient_arguments), static_cast<std::int64_t>(observed.parameters),
                   static_cast<std::int64_t>(observed.buffers)});
}

Observed observed_from(const c10::IValue &packed) {
  const auto parts = values_of(packed);
  Observed observed;
  observed.output = parts.at(0);
  observed.gradient_names = texts_from(parts.at(1));
  observed.gradients = values_of(parts.at(2));
  observed.state_names = texts_from(parts.at(3));
  observed.state = values_of(parts.at(4));
  observed.unchanged = texts_from(parts.at(5));
  observed.has_way_back = parts.at(6).toBool();
  observed.left_out = static_cast<int>(parts.at(7).toInt());
  observed.operators = operators_from(parts.at(8));
  observed.gradient_arguments = numbers_from(parts.at(9));
  observed.parameters = static_cast<std::size_t>(parts.at(10).toInt());
  observed.buffers = static_cast<std::size_t>(parts.at(11).toInt());
  if (observed.gradients.size() != observed.gradient_names.size() ||
      observed.gradients.size() != observed.gradient_arguments.size() ||
      observed.parameters + observed.buffers > observed.state.size() ||
      observed.state.size() != observed.state_names.size() || observed.state.size() != observed.unchanged.size())
    throw std::invalid_argument("as many values as names");
  return observed;
}

c10::IValue packed(const KeptRuns &runs) {
  std::vector<c10::IValue> calls;
  for (const Observed &call : runs.calls)
    calls.push_back(packed(call));
  return tuple_of({tuple_of(std::move(calls)), runs.seconds, runs.problem});
}

KeptRuns runs_from(const c10::IValue &packed) {
  const auto parts = values_of(packed);
  KeptRuns runs{{}, parts.at(1).toDouble(), parts.at(2).toStringRef()};
  for (const c10::IValue &call : values_of(parts.at(0)))
    runs.calls.push_back(observed_from(call));
  return runs;
}

std::size_t size_in_bytes(const KeptRuns &runs) {
  std::vector<at::Tensor> tensors;
  const auto add = [&](const c10::IValue &value) {
    for_each_tensor(value, [&](const at::Tensor &tensor) { tensors.push_back(tensor); });
  };
  for (const Observed &call : runs.calls) {
    add(call.output);
    for (const auto *values : {&call.gradients, &call.state})
      for (const c10::IValue &value : *values)
        add(value);
  }
  return bytes_of_tensors(tensors);
}

bool same_types(const std::vector<c10::IValue> &one, const std::vector<c10::IValue> &other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const c10::IValue &a, const c10::IValue &b) { return *a.type() == *b.type(); });
}

/// The pickler knows no named tuples, for one.
bool comes_back(const Observed &call, const Observed &again) {
  return same_types({call.output}, {again.output}) && same_types(call.gradients, again.gradients) &&
         same_types(call.state, again.state) && same_bits(call, again);
}

bool comes_back(const KeptRuns &runs, const std::vector<char> &bytes) {
  const KeptRuns again = runs_from(unpickled({bytes.data(), bytes.size()}));
  return std::equal(runs.calls.begin(), runs.calls.end(), again.calls.begin(), again.calls.end(),
                    [](const Observed &call, const Observed &other) { return comes_back(call, other); });
}

/// Whole or not at all.
void write_whole(const std::string &file, const std::vector<char> &bytes) {
  const std::string part = file + ".part";
  std::ofstream out(part, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  std::error_code error;
  if (out)
    fs::rename(part, file, error);
  else
    fs::remove(part, error);
}

/// Everything about a backend that its eager side depends on (CheckContext); the options are the same for all.
std::string settings_of(const Backend &backend, const CheckOptions &options) {
  const bool all_gradients = !options.grad || backend.traits().gradients == Gradients::All;
  return std::string(run_settings(backend, options).autocast ? "autocast" : "") + "," +
         (all_gradients ? "all gradients" : "");
}

} // namespace

void keep_runs(const std::string &file, const KeptRuns &runs) noexcept {
  try {
    if (size_in_bytes(runs) > most_kept_bytes)
      return;
    const auto bytes = pickled(packed(runs));
    if (comes_back(runs, bytes))
      write_whole(file, bytes);
  } catch (...) { // an object of a class, an undefined tensor, which has no type, a full disk
  }
}

std::optional<KeptRuns> load_runs(const std::string &file) noexcept {
  try {
    if (!fs::is_regular_file(file))
      return std::nullopt;
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    return runs_from(unpickled({bytes.data(), bytes.size()}));
  } catch (...) {
    return std::nullopt;
  }
}

Observed narrowed(Observed all, const RunOptions &how) {
  Observed some = all;
  some.state.clear();
  some.state_names.clear();
  some.unchanged.clear();
  const std::size_t of_the_module = all.parameters + all.buffers;
  if (!how.module)
    some.parameters = some.buffers = 0;
  for (std::size_t i = 0; i < all.state.size(); ++i)
    if (i < of_the_module ? how.module : !how.boxed) {
      some.state.push_back(std::move(all.state[i]));
      some.state_names.push_back(std::move(all.state_names[i]));
      some.unchanged.push_back(std::move(all.unchanged[i]));
    }
  return some;
}

EagerMemo::EagerMemo() : owner_(getpid()) {
  static std::atomic<int> number = 0;
  folder_ = private_folder_of_children() / ("eager-" + std::to_string(++number));
  std::filesystem::create_directory(folder_);
}

EagerMemo::~EagerMemo() {
  std::error_code error;
  if (getpid() == owner_)
    std::filesystem::remove_all(folder_, error);
}

std::string EagerMemo::file_for(const std::string &program, const Backend &backend, const CheckOptions &options) {
  const auto [known, is_new] = files_.try_emplace(program + "," + settings_of(backend, options));
  if (is_new)
    known->second = folder_ / std::to_string(files_.size());
  return known->second;
}

} // namespace repro_minify
