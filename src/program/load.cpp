#include "program/load.h"

#include "program/compute.h"
#include "program/device.h"
#include "program/run_settings.h"
#include "program/values.h"

#include <ATen/ATen.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/csrc/jit/serialization/import_read.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;

void require_file(const std::string &path) {
  std::error_code error;
  if (!fs::exists(path, error))
    throw UserError(path + ": no such file");
  if (!fs::is_regular_file(path, error))
    throw UserError(path + ": not a file");
  if (fs::file_size(path, error) == 0)
    throw UserError(path + ": is empty (was it saved to the end?)");
}

bool any_record(const std::vector<std::string> &records, const std::string &part) {
  return std::any_of(records.begin(), records.end(),
                     [&](const auto &name) { return name.find(part) != std::string::npos; });
}

/// Says what a file that is no TorchScript archive is instead.
void require_torchscript(const std::string &path) {
  std::vector<std::string> records;
  try {
    caffe2::serialize::PyTorchStreamReader reader(path);
    if (reader.hasRecord("constants.pkl"))
      return;
    records = reader.getAllRecords();
  } catch (const std::exception &) {
    throw UserError(path + ": not a TorchScript archive, or cut short; save the model again with torch.jit.save");
  }
  if (any_record(records, "serialized_exported_program") || any_record(records, "models/") ||
      any_record(records, "archive_format"))
    throw UserError(
        path + ": a torch.export archive (.pt2), not TorchScript; save it with torch.jit.save(torch.jit.trace(...))");
  if (any_record(records, "data.pkl"))
    throw UserError(path +
                    ": holds saved values (a state dict or a pickled module), no TorchScript code; save the model with "
                    "torch.jit.save(torch.jit.script(model), ...)");
  throw UserError(path + ": a zip archive without TorchScript code in it");
}

std::string argument_list(const c10::FunctionSchema &schema) {
  std::string text;
  for (size_t i = 1; i < schema.arguments().size(); ++i)
    text += (i > 1 ? ", " : "") + schema.arguments()[i].name() + ": " + schema.arguments()[i].type()->annotation_str();
  return "(" + text + ")";
}

/// The value as the argument's type wants it: a pickled list is a list of anything, a model's is a List[Tensor].
c10::IValue coerce(const c10::IValue &value, const c10::TypePtr &type, const std::string &what) {
  const auto wrong = [&] {
    return UserError(what + " is " + describe(value) + ", but the model takes " + type->annotation_str());
  };
  if (auto optional = type->cast<c10::OptionalType>())
    return value.isNone() ? value : coerce(value, optional->getElementType(), what);
  if (auto list = type->cast<c10::ListType>()) {
    if (!value.isList() && !value.isTuple())
      throw wrong();
    c10::impl::GenericList result(list->getElementType());
    const auto elements = value.isList() ? value.toListRef().vec()
                                         : std::vector<c10::IValue>(value.toTupleRef().elements().begin(),
                                                                    value.toTupleRef().elements().end());
    for (size_t i = 0; i < elements.size(); ++i)
      result.push_back(coerce(elements[i], list->getElementType(), what + "[" + std::to_string(i) + "]"));
    return result;
  }
  if (auto tuple = type->cast<c10::TupleType>()) {
    if (!value.isList() && !value.isTuple())
      throw wrong();
    std::vector<c10::IValue> elements = value.isList() ? value.toListRef().vec()
                                                       : std::vector<c10::IValue>(value.toTupleRef().elements().begin(),
                                                                                  value.toTupleRef().elements().end());
    if (elements.size() != tuple->elements().size())
      throw wrong();
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = coerce(elements[i], tuple->elements()[i], what + "[" + std::to_string(i) + "]");
    return tuple->schema() ? c10::ivalue::Tuple::createNamed(std::move(elements), tuple)
                           : c10::ivalue::Tuple::create(std::move(elements));
  }
  if (auto dict = type->cast<c10::DictType>()) {
    if (!value.isGenericDict())
      throw wrong();
    c10::impl::GenericDict result(dict->getKeyType(), dict->getValueType());
    for (const auto &entry : value.toGenericDict())
      result.insert(coerce(entry.key(), dict->getKeyType(), what + " key"),
                    coerce(entry.value(), dict->getValueType(), what));
    return result;
  }
  if (type->kind() == c10::TypeKind::FloatType && value.isInt())
    return static_cast<double>(value.toInt());
  if (!value.type()->isSubtypeOf(*type))
    throw wrong();
  return value;
}

std::vector<c10::IValue> as_arguments(const LoadedModel &model, const c10::IValue &saved, const std::string &origin) {
  const auto &schema = model.module.get_method(model.method).function().getSchema();
  const size_t wanted = schema.arguments().size() - 1;
  std::vector<std::optional<c10::IValue>> given(wanted);
  if (saved.isGenericDict()) {
    for (const auto &entry : saved.toGenericDict()) {
      const auto found =
          entry.key().isString() ? schema.argumentIndexWithName(entry.key().toStringRef()) : std::nullopt;
      if (!found || *found == 0)
        throw UserError(origin + ": the model's " + model.method + argument_list(schema) + " has no argument named " +
                        (entry.key().isString() ? "'" + entry.key().toStringRef() + "'" : describe(entry.key())));
      given[*found - 1] = entry.value();
    }
  } else {
    std::vector<c10::IValue> positional;
    if (saved.isList())
      positional = saved.toListRef().vec();
    else if (saved.isTuple())
      positional.assign(saved.toTupleRef().elements().begin(), saved.toTupleRef().elements().end());
    else
      positional = {saved};
    if (positional.size() > wanted)
      throw UserError(origin + ": holds " + std::to_string(positional.size()) + " inputs, but " + model.method +
                      argument_list(schema) + " takes " + std::to_string(wanted));
    std::copy(positional.begin(), positional.end(), given.begin());
  }
  std::vector<c10::IValue> result;
  for (size_t i = 0; i < wanted; ++i) {
    const auto &argument = schema.arguments()[i + 1];
    if (!given[i] && !argument.default_value())
      throw UserError(origin + ": " + model.method + argument_list(schema) + " takes " + std::to_string(wanted) +
                      " inputs, and there is none for '" + argument.name() + "'");
    result.push_back(given[i] ? coerce(*given[i], argument.type(), origin + ": input '" + argument.name() + "'")
                              : *argument.default_value());
  }
  return result;
}

c10::IValue unpickle_inputs(const std::string &path) {
  require_file(path);
  try {
    // As pickle_load, but what was saved on another device is read all the same.
    caffe2::serialize::PyTorchStreamReader reader(path);
    return torch::jit::readArchiveAndTensors("data", "", "", std::nullopt, std::nullopt, at::kCPU, reader);
  } catch (const UserError &) {
    throw;
  } catch (const std::exception &) {
    throw UserError(path + ": cannot be read as inputs; save a list, tuple or dict of tensors with torch.save");
  }
}

c10::IValue bundled_inputs(const LoadedModel &model) {
  auto module = model.module;
  const auto all = compute_in_child(
      [&](Child &child) {
        child.stage("reading the bundled inputs");
        seed_cpu(0);
        return module.run_method("get_all_bundled_inputs");
      },
      generous_limits());
  if (!all.isList() || all.toListRef().empty())
    throw UserError(model.path + ": its bundled inputs are empty");
  return all.toListRef()[0];
}

struct Spec {
  at::ScalarType dtype;
  std::vector<int64_t> sizes;
  std::optional<std::pair<double, double>> range;
};

Spec parse_spec(const std::string &text) {
  static const std::map<std::string, at::ScalarType> dtypes = {
      {"f16", at::kHalf}, {"bf16", at::kBFloat16}, {"f32", at::kFloat},        {"f64", at::kDouble},
      {"u8", at::kByte},  {"i8", at::kChar},       {"i16", at::kShort},        {"i32", at::kInt},
      {"i64", at::kLong}, {"bool", at::kBool},     {"c64", at::kComplexFloat}, {"c128", at::kComplexDouble}};
  const auto bad = [&](const std::string &why) {
    return UserError("--input '" + text + "': " + why +
                     "; write dtype[sizes], as in f32[2,3,32,32] or i64[4,16]@0:50 (from 0 to 49)");
  };
  const auto open = text.find('['), close = text.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open)
    throw bad("no sizes in brackets");
  const auto dtype = dtypes.find(text.substr(0, open));
  if (dtype == dtypes.end())
    throw bad("unknown dtype '" + text.substr(0, open) + "' (known: f16 bf16 f32 f64 u8 i8 i16 i32 i64 bool c64 c128)");
  Spec spec{dtype->second, {}, std::nullopt};
  try {
    std::istringstream sizes(text.substr(open + 1, close - open - 1));
    for (std::string size; std::getline(sizes, size, ',');) {
      size_t used = 0;
      spec.sizes.push_back(std::stoll(size, &used));
      if (spec.sizes.back() < 0 || size.find_first_not_of(' ', used) != std::string::npos)
        throw std::invalid_argument(size);
    }
    const std::string rest = text.substr(close + 1);
    if (!rest.empty()) {
      const auto colon = rest.find(':');
      if (rest[0] != '@' || colon == std::string::npos)
        throw std::invalid_argument(rest);
      spec.range = {std::stod(rest.substr(1, colon - 1)), std::stod(rest.substr(colon + 1))};
      if (!(spec.range->first < spec.range->second))
        throw std::invalid_argument(rest);
    }
  } catch (const std::logic_error &) {
    throw bad("not a size or a range");
  }
  return spec;
}

at::Tensor make_tensor(const Spec &spec, bool requires_grad) {
  at::Tensor tensor;
  if (at::isIntegralType(spec.dtype, /*includeBool=*/false)) {
    const auto range = spec.range.value_or(std::make_pair(0.0, 10.0));
    tensor = at::randint(static_cast<int64_t>(range.first), static_cast<int64_t>(range.second), spec.sizes, spec.dtype);
  } else if (spec.dtype == at::kBool) {
    tensor = at::randint(0, 2, spec.sizes, at::kBool);
  } else if (spec.range) {
    tensor = (at::rand(spec.sizes, at::kDouble) * (spec.range->second - spec.range->first) + spec.range->first)
                 .to(spec.dtype);
  } else {
    tensor = at::randn(spec.sizes, at::isComplexType(spec.dtype) ? spec.dtype : at::kFloat).to(spec.dtype);
  }
  if (requires_grad && (tensor.is_floating_point() || tensor.is_complex()))
    tensor.set_requires_grad(true);
  return tensor;
}

c10::IValue from_specs(const InputSource &source) {
  std::vector<Spec> specs;
  for (const auto &text : source.specs)
    specs.push_back(parse_spec(text));
  return compute_in_child(
      [&](Child &) {
        seed_cpu(source.seed);
        std::vector<c10::IValue> tensors;
        tensors.reserve(specs.size());
        for (const auto &spec : specs)
          tensors.emplace_back(make_tensor(spec, source.requires_grad));
        return c10::ivalue::Tuple::create(std::move(tensors));
      },
      generous_limits());
}

} // namespace

LoadedModel load_model(const std::string &path, const std::string &method, uint64_t seed, bool train,
                       c10::Device device) {
  require_file(path);
  require_torchscript(path);
  LoadedModel model{path, {}, method};
  try {
    seed_cpu(seed);
    model.module = torch::jit::load(path, c10::kCPU);
    redirect_device_constants(model.module, device);
  } catch (const std::exception &error) {
    throw UserError(path + ": cannot be loaded: " + first_sentence(error.what()));
  }
  const auto found = model.module.find_method(method);
  if (!found) {
    std::string names;
    for (const auto &known : model.module.get_methods())
      names += (names.empty() ? "" : ", ") + known.name();
    throw UserError("--method " + method + ": the model has no such method; it has " +
                    (names.empty() ? "none" : names));
  }
  if (!train)
    model.module.eval();
  return model;
}

LoadedInputs load_inputs(const LoadedModel &model, const InputSource &source) {
  const auto from = [&](const c10::IValue &saved, const std::string &origin) {
    return LoadedInputs{as_arguments(model, saved, origin), origin};
  };
  if (!source.specs.empty() && source.inputs_path)
    throw UserError("--input and --inputs: give one of them");
  if (!source.specs.empty())
    return from(from_specs(source), "--input");
  if (source.inputs_path)
    return from(unpickle_inputs(*source.inputs_path), *source.inputs_path);
  if (model.method == "forward" && model.module.find_method("get_all_bundled_inputs")) {
    try {
      return from(bundled_inputs(model), "bundled inputs");
    } catch (const UserError &) {
      throw;
    } catch (const std::exception &error) {
      throw UserError(model.path + ": its bundled inputs cannot be made: " + first_sentence(error.what()));
    }
  }
  const auto beside = (fs::path(model.path).parent_path() / "inputs.pt").string();
  if (fs::exists(beside))
    return from(unpickle_inputs(beside), beside);
  const auto &schema = model.module.get_method(model.method).function().getSchema();
  if (schema.arguments().size() == 1)
    return {{}, "none needed"};
  throw UserError(model.path + ": no inputs for " + model.method + argument_list(schema) +
                  "; give --inputs FILE or one --input SPEC for each argument (as in --input 'f32[2,3,32,32]')");
}

} // namespace repro_minify
