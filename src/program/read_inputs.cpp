#include "program/read_inputs.h"

#include "core/no_answer.h"
#include "program/compute.h"
#include "program/input_spec_text.h"
#include "program/pickle.h"
#include "program/saved_values.h"
#include "repro_minify/program.h"
#include "repro_minify/run_settings.h"

#include <ATen/ATen.h>
#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <stdexcept>
#include <string_view>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;
using pickle::CannotRead;

/// A file in memory as the zip reader wants it.
class InMemory : public caffe2::serialize::ReadAdapterInterface {
public:
  explicit InMemory(const std::string &bytes) : bytes_(bytes) {}
  size_t size() const override { return bytes_.size(); }
  size_t read(uint64_t position, void *to, size_t count, const char *) const override {
    if (position >= bytes_.size())
      return 0;
    count = std::min<size_t>(count, bytes_.size() - position);
    std::memcpy(to, bytes_.data() + position, count);
    return count;
  }

private:
  const std::string &bytes_;
};

using Zip = caffe2::serialize::PyTorchStreamReader;

std::string record(Zip &zip, const std::string &name) {
  const auto [data, size] = zip.getRecord(name);
  return {static_cast<const char *>(data.get()), size};
}

std::string what_zip_it_is(const std::vector<std::string> &records) {
  const auto any = [&](const std::string &part) {
    return std::any_of(records.begin(), records.end(),
                       [&](const auto &name) { return name.find(part) != std::string::npos; });
  };
  if (any("serialized_exported_program") || any("archive_format"))
    return "is a torch.export archive (.pt2), no inputs";
  return "is a zip archive without saved values in it";
}

c10::IValue read_zip(Zip &&zip) {
  if (zip.hasRecord("constants.pkl"))
    throw CannotRead("is a TorchScript archive, a model; inputs are a tuple, list or dict saved with torch.save");
  if (!zip.hasRecord("data.pkl"))
    throw CannotRead(what_zip_it_is(zip.getAllRecords()));
  if (zip.hasRecord("byteorder") && record(zip, "byteorder") == "big")
    throw CannotRead("was saved on a big-endian machine");
  const std::string pickled = record(zip, "data.pkl");
  const pickle::Document document = pickle::read(pickled);
  return to_values(*document.root, [&](const std::string &key) {
    const std::string name = "data/" + key;
    if (!zip.hasRecord(name))
      throw CannotRead("lacks the data of a tensor");
    auto [data, size] = zip.getRecord(name);
    return c10::Storage(c10::Storage::use_byte_size_t(), static_cast<int64_t>(size), std::move(data));
  });
}

c10::IValue read_legacy(const std::string &bytes) {
  const pickle::LegacyFile file = pickle::read_legacy_file(bytes);
  return to_values(*file.document.root, [&](const std::string &key) {
    const auto found = file.storages.find(key);
    if (found == file.storages.end())
      throw CannotRead("lacks the data of a tensor");
    return storage_with(found->second);
  });
}

c10::IValue read_pickle(const std::string &bytes) {
  const pickle::Document document = pickle::read(bytes);
  return to_values(*document.root,
                   [](const std::string &) -> c10::Storage { throw CannotRead("lacks the data of a tensor"); });
}

/// Eight bytes that say how long the JSON behind them is.
bool is_safetensors(const std::string &bytes) {
  uint64_t header = 0;
  if (bytes.size() < 10)
    return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header >= 2 && header <= bytes.size() - 8 && bytes[8] == '{' && bytes[9] == '"';
}

bool is_zip(std::string_view bytes) {
  return bytes.substr(0, 4) == std::string_view("PK\x03\x04", 4);
}

/// The first file in a zip archive is an array.
bool is_npz(std::string_view bytes) {
  constexpr size_t name_at = 30, size_at = 26;
  uint16_t size = 0;
  if (!is_zip(bytes) || bytes.size() < name_at)
    return false;
  std::memcpy(&size, bytes.data() + size_at, sizeof size);
  return bytes.substr(name_at, size).ends_with(".npy");
}

[[noreturn]] void refuse_npz() {
  throw CannotRead("is a .npz file, which has no order; save a tuple of its arrays with torch.save");
}

c10::IValue read_any(const std::string &bytes) {
  if (is_npz(bytes))
    refuse_npz();
  if (is_zip(bytes))
    return read_zip(Zip(std::make_shared<InMemory>(bytes)));
  if (pickle::is_legacy_file(bytes))
    return read_legacy(bytes);
  if (pickle::is_npy(bytes))
    return to_tensor(pickle::read_npy(bytes));
  if (bytes[0] == '\x80')
    return read_pickle(bytes);
  if (bytes.compare(0, 8, "\x89HDF\r\n\x1a\n") == 0)
    throw CannotRead("is an HDF5 file; save the inputs with torch.save");
  if (is_safetensors(bytes))
    throw CannotRead("is a safetensors file, which has no order; load it in Python, and save a tuple with torch.save");
  throw CannotRead("is no file of torch.save; save a tuple, list or dict of tensors with it");
}

template <typename Read> c10::IValue with_origin(const std::string &origin, const Read &read) {
  try {
    return read();
  } catch (const CannotRead &error) {
    throw UserError(origin + ": " + error.what());
  } catch (const c10::Error &) { // of the zip reader
    throw UserError(origin + ": is a zip archive that is cut short or damaged (was it saved, or copied, to the end?)");
  }
}

at::ScalarType scalar_type(const std::string &name) {
  static const std::map<std::string, at::ScalarType> types = {
      {"f16", at::kHalf}, {"bf16", at::kBFloat16}, {"f32", at::kFloat},        {"f64", at::kDouble},
      {"u8", at::kByte},  {"i8", at::kChar},       {"i16", at::kShort},        {"i32", at::kInt},
      {"i64", at::kLong}, {"bool", at::kBool},     {"c64", at::kComplexFloat}, {"c128", at::kComplexDouble}};
  return types.at(name);
}

at::Tensor make_tensor(const InputSpec &spec, bool requires_grad) {
  const at::ScalarType dtype = scalar_type(spec.dtype);
  at::Tensor tensor;
  if (at::isIntegralType(dtype, /*includeBool=*/false)) {
    const auto range = spec.range.value_or(std::make_pair(0.0, 10.0));
    tensor = at::randint(static_cast<int64_t>(range.first), static_cast<int64_t>(range.second), spec.sizes, dtype);
  } else if (dtype == at::kBool) {
    tensor = at::randint(0, 2, spec.sizes, at::kBool);
  } else if (spec.range) {
    const auto [least, end] = *spec.range;
    tensor = (at::rand(spec.sizes, at::kDouble) * (end - least) + least).to(dtype);
    // A draw just below the end may have been rounded to it.
    const auto below = at::nextafter(at::full({}, end, dtype), at::full({}, least, dtype));
    tensor = at::where(tensor >= end, below, tensor);
  } else {
    tensor = at::randn(spec.sizes, at::isComplexType(dtype) ? dtype : at::kFloat).to(dtype);
  }
  if (requires_grad && (tensor.is_floating_point() || tensor.is_complex()))
    tensor.set_requires_grad(true);
  return tensor;
}

InputSpec spec_in(const std::string &text) {
  try {
    return read_input_spec(text);
  } catch (const std::invalid_argument &problem) {
    throw UserError("--input '" + text + "': " + problem.what());
  }
}

} // namespace

void require_file(const std::string &path) {
  std::error_code error;
  if (!fs::exists(path, error))
    throw UserError(path + ": no such file");
  if (!fs::is_regular_file(path, error))
    throw UserError(path + (fs::is_directory(path, error) ? ": is a folder, not a file" : ": not a file"));
  if (fs::file_size(path, error) == 0)
    throw UserError(path + ": is empty (was it saved to the end?)");
  if (!std::ifstream(path, std::ios::binary))
    throw UserError(path + ": cannot be opened (may it be read?)");
}

std::string bytes_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::string bytes(static_cast<size_t>(std::max<std::streamoff>(file.tellg(), 0)), '\0');
  file.seekg(0);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

c10::IValue read_inputs(const std::string &bytes, const std::string &origin) {
  return with_origin(origin, [&] { return read_any(bytes); });
}

c10::IValue read_inputs(const std::string &path) {
  require_file(path);
  return with_origin(path, [&] {
    char begin[256] = {};
    std::ifstream(path, std::ios::binary).read(begin, sizeof begin);
    const std::string_view head(begin, sizeof begin);
    if (is_npz(head))
      refuse_npz();
    // Large inputs are in a zip archive, which is not read twice.
    return is_zip(head) ? read_zip(Zip(path)) : read_any(bytes_of(path));
  });
}

std::optional<std::string> inputs_inside(const std::string &archive) {
  try {
    Zip zip(archive);
    const std::string name = std::string("extra/") + inputs_inside_name;
    return zip.hasRecord(name) ? std::optional(record(zip, name)) : std::nullopt;
  } catch (const c10::Error &error) {
    // That says nothing of the file: who reads it first, under a limit, must not send the next to read it under none.
    if (is_out_of_memory(error.what()))
      throw std::bad_alloc();
    return std::nullopt;
  }
}

c10::IValue inputs_from_specs(const std::vector<std::string> &texts, uint64_t seed, bool requires_grad) {
  std::vector<InputSpec> specs;
  for (const auto &text : texts)
    specs.push_back(spec_in(text));
  try {
    return compute_in_child(
        [&](Child &) {
          seed_cpu(seed);
          std::vector<c10::IValue> tensors;
          tensors.reserve(specs.size());
          for (const auto &spec : specs)
            tensors.emplace_back(make_tensor(spec, requires_grad));
          return c10::ivalue::Tuple::create(std::move(tensors));
        },
        generous_limits());
  } catch (const std::exception &error) {
    throw UserError("--input: the inputs cannot be made: " + first_sentence(error.what()));
  }
}

} // namespace repro_minify
