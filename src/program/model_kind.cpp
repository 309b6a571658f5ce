#include "program/model_kind.h"

#include "program/pickle.h"
#include "program/read_inputs.h"
#include "repro_minify/program.h"

#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <vector>

namespace repro_minify {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

constexpr size_t most_of_a_head = 1 << 20;

constexpr const char *save_the_model = "save the model with torch.jit.save(torch.jit.trace(model, inputs), FILE) "
                                       "or torch.export.save(torch.export.export(model, inputs), FILE)";

constexpr const char *no_model_in_zip = "a zip archive without TorchScript code or an exported program in it; ";

/// The bytes that identify a file format which cannot be taken as a model.
struct Magic {
  size_t at;
  std::string_view bytes;
  const char *is;
};
constexpr Magic known_formats[] = {{0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file (of Keras?)"},
                                   {0, "\x93NUMPY"sv, "an array of numpy (.npy), which is an input"},
                                   {0, "GGUF"sv, "a GGUF file, weights alone"},
                                   {4, "ET1"sv, "an ExecuTorch program (.pte), which is compiled already"},
                                   {4, "TFL3"sv, "a TensorFlow Lite model"},
                                   {0,
                                    "\x7f"
                                    "ELF"sv,
                                    "a shared library or a program, which is compiled already"},
                                   {0, "\x1f\x8b"sv, "compressed with gzip; unpack it first"},
                                   {257, "ustar"sv, "a tar archive; unpack it first"}};

std::string head_of(const std::string &path) {
  std::string bytes(most_of_a_head, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (file.bad())
    throw UserError(path + ": cannot be read: the disk or the network that it lies on gives an error");
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

/// The beginning of a text and its end, which is where torch.compile's programs say what they are.
std::string ends_of(const std::string &path, std::string head) {
  if (head.size() < most_of_a_head)
    return head;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<size_t>(std::max<std::streamoff>(file.tellg(), 0));
  const size_t rest = std::min(size - std::min(size, head.size()), size_t(1) << 16);
  std::string tail(rest, '\0');
  file.seekg(static_cast<std::streamoff>(size - rest));
  file.read(tail.data(), static_cast<std::streamsize>(rest));
  return head + tail;
}

bool any_record(const std::vector<std::string> &records, const std::string &part) {
  return std::any_of(records.begin(), records.end(),
                     [&](const auto &name) { return name.find(part) != std::string::npos; });
}

/// The first class that a pickle names which is neither a tensor nor a container of Python's.
std::string foreign_class(const std::string &pickled) {
  static const std::regex global("c([A-Za-z_][\\w.]*)\n([A-Za-z_]\\w*)\n");
  for (std::sregex_iterator found(pickled.begin(), pickled.end(), global), end; found != end; ++found) {
    const std::string module = (*found)[1];
    if (module != "torch" && module != "torch._utils" && module != "collections" && module != "torch.storage" &&
        module != "torch.serialization" && module.rfind("numpy", 0) != 0 && module != "_codecs")
      return module + "." + std::string((*found)[2]);
  }
  return "";
}

std::string what_torch_saved(const std::string &pickled) {
  const std::string begin = pickled.substr(0, 4096);
  const std::string type = foreign_class(begin);
  if (!type.empty() && type.find("Parameter") == std::string::npos)
    return "a pickled object of Python's class " + type +
           ", which only that code can load; load it in Python with torch.load, and " + save_the_model;
  // The saved object comes right behind the protocol; a tensor has an OrderedDict too, of hooks.
  if (begin.find("\x80\x02"
                 "ccollections\nOrderedDict") != std::string::npos ||
      begin.rfind("\x80\x02}", 0) == 0)
    return std::string("a state dict, weights without the code that uses them, no TorchScript; load them into the "
                       "model in Python with load_state_dict, and ") +
           save_the_model;
  return std::string("tensors that torch.save has saved, no TorchScript; give them as --inputs, and ") + save_the_model;
}

/// The list of what is in it stands at its end.
bool has_end_of_zip(const std::string &path) {
  constexpr std::streamoff longest = 1 << 16;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  file.seekg(std::max(std::streamoff(file.tellg()) - longest, std::streamoff(0)));
  return std::string(std::istreambuf_iterator<char>(file), {}).find("PK\x05\x06") != std::string::npos;
}

ModelKind kind_of_zip(const std::string &path) {
  std::vector<std::string> records;
  std::string pickled;
  try {
    caffe2::serialize::PyTorchStreamReader reader(path);
    if (reader.hasRecord("constants.pkl"))
      return ModelKind::TorchScript;
    records = reader.getAllRecords();
    if (reader.hasRecord("data.pkl")) {
      const auto [data, size] = reader.getRecord("data.pkl");
      pickled.assign(static_cast<const char *>(data.get()), std::min(size, most_of_a_head));
    }
  } catch (const std::exception &) {
    throw UserError(path + (has_end_of_zip(path) ? std::string(": ") + no_model_in_zip + save_the_model
                                                 : ": cut short (was it saved, or copied, to the end?), so that what "
                                                   "it holds, a TorchScript archive perhaps, cannot be read"));
  }
  if (any_record(records, "serialized_exported_program") || any_record(records, "models/"))
    return ModelKind::Export;
  if (any_record(records, "aotinductor"))
    throw UserError(path + ": an AOTInductor package, which is compiled already; give the .pt2 of torch.export that it "
                           "was compiled from");
  if (!pickled.empty())
    throw UserError(path + ": " + what_torch_saved(pickled));
  if (any_record(records, ".npy"))
    throw UserError(path + ": a .npz file, arrays of numpy; " + save_the_model);
  throw UserError(path + ": " + no_model_in_zip + save_the_model);
}

bool is_text(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos;
}

bool is_trace_log(const std::string &text) {
  static const std::regex record("(^|\n)[VDIWEC][0-9]{4} [0-9:.]+ [0-9]+ [^\n\\]]{1,300}\\] \\{");
  return std::regex_search(text.begin(),
                           text.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(text.size(), 4096)), record);
}

std::optional<ModelKind> kind_of_text(const std::string &path, const std::string &text) {
  if (text.find("run_repro") != std::string::npos && text.find("load_args") != std::string::npos)
    return is_trace_log(text) ? ModelKind::Log : ModelKind::Program;
  if (is_trace_log(text))
    return ModelKind::Log;
  if (text.find("import torch") != std::string::npos || fs::path(path).extension() == ".py")
    throw UserError(path + ": a Python program, but none that torch.compile left behind (with Repro, load_args and "
                           "run_repro); torch._dynamo.config.repro_after = \"aot\" has it write one");
  return std::nullopt;
}

/// True if the version of the format comes first, and then a name, the graph or the operator sets.
bool is_onnx(std::string_view head) {
  return head.size() > 16 && head[0] == 8 && head[1] > 0 && head[1] < 32 &&
         (head[2] == 0x12 || head[2] == 0x3a || head[2] == 0x42);
}

bool is_safetensors(std::string_view head) {
  uint64_t size = 0;
  if (head.size() < 10)
    return false;
  std::memcpy(&size, head.data(), sizeof size);
  return size >= 2 && size < (1u << 28) && head[8] == '{' && (head[9] == '"' || head[9] == '}');
}

bool is_graph_file(const fs::directory_entry &entry) {
  const std::string name = entry.path().filename().string();
  return name.find("fx_graph_runnable") != std::string::npos || name == "raw.log" ||
         name.rfind("dedicated_log_torch_trace", 0) == 0;
}

ModelKind kind_of_folder(const std::string &path) {
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(path, options, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_graph_file(*entry))
      return ModelKind::Log;
    if (entry.depth() >= 1)
      entry.disable_recursion_pending();
  }
  for (const char *name : {"repro.py", "minifier_launcher.py", "minifier/minifier_launcher.py"})
    if (fs::exists(fs::path(path) / name, error))
      throw UserError(path + ": is a folder; give the file in it: " + (fs::path(path) / name).string());
  throw UserError(path +
                  ": is a folder, and neither of TORCH_TRACE nor of tlparse: no graph lies in it; give a file, or the "
                  "folder that a run with TORCH_TRACE=FOLDER in its environment has written");
}

[[noreturn]] void refuse(const std::string &path, const std::string &head) {
  for (const Magic &known : known_formats)
    if (head.size() > known.at && std::string_view(head).substr(known.at, known.bytes.size()) == known.bytes)
      throw UserError(path + ": " + known.is + "; " + save_the_model);
  if (is_onnx(head))
    throw UserError(path + ": an ONNX model; of the PyTorch model that it was made from, " + save_the_model);
  if (is_safetensors(head))
    throw UserError(path +
                    ": a safetensors file, weights without the code that uses them; load them into the model in "
                    "Python, and " +
                    save_the_model);
  if (pickle::is_legacy_file(head) || (!head.empty() && head[0] == '\x80'))
    throw UserError(path + ": " + what_torch_saved(head));
  throw UserError(path + ": not a TorchScript archive, or cut short; " + save_the_model);
}

} // namespace

const char *to_string(ModelKind kind) {
  constexpr const char *names[] = {"a TorchScript archive", "a torch.export archive",
                                   "a program that torch.compile left behind", "a TORCH_TRACE log"};
  return names[static_cast<size_t>(kind)];
}

ModelKind kind_of_model(const std::string &path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    return kind_of_folder(path);
  require_file(path);
  const std::string head = head_of(path);
  if (head.rfind("PK\x03\x04", 0) == 0)
    return kind_of_zip(path);
  if (is_text(head))
    if (const auto kind = kind_of_text(path, ends_of(path, head)))
      return *kind;
  refuse(path, head);
}

} // namespace repro_minify
