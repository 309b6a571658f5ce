// Any program as a backend: it is given reduced.pt and inputs.pt, and writes outputs.pt.
#include "backends/backend_parts.h"
#include "backends/backend_registry.h"
#include "backends/external/command_server.h"
#include "core/escape.h"
#include "core/files.h"
#include "core/no_answer.h"
#include "core/programs.h"
#include "core/text.h"
#include "program/compute.h"
#include "program/read_inputs.h"
#include "program/values.h"
#include "repro_minify/backend_parts.h"
#include "repro_minify/program.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/graph_iterator.h>
#include <torch/csrc/jit/serialization/import_read.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <system_error>

namespace repro_minify {
namespace {

#include "backends/external/embedded/command_program.inc"

/// Relative paths of files that exist are made absolute, so that the repro runs from any folder.
std::vector<std::string> words_of(const std::string &line) {
  std::vector<std::string> words;
  try {
    words = split_words(line);
  } catch (const std::invalid_argument &error) {
    throw UserError("--backend command:" + line + ": " + error.what());
  }
  if (words.empty())
    throw UserError("--backend command: names no program");
  std::error_code error;
  for (auto &word : words)
    if (word.find('/') != std::string::npos && fs::exists(word, error))
      word = fs::absolute(word).lexically_normal().string();
  return words;
}

/// The program's inputs are written and its answer is read here: where that cannot be done, nothing has
/// been said of the backend.
class AskedProgram : public CommandProgram {
public:
  using CommandProgram::CommandProgram;

protected:
  std::vector<char> written(std::vector<c10::IValue> arguments) override {
    for (const auto &argument : arguments)
      for_each_tensor(argument, [](const at::Tensor &tensor) {
        if (tensor.layout() != at::kStrided)
          throw CannotCompile(
              "its inputs cannot be saved: torch.load does not read a sparse tensor that C++ has saved");
      });
    try {
      return CommandProgram::written(std::move(arguments));
    } catch (const c10::Error &error) {
      throw CannotCompile("its inputs cannot be saved: " + first_sentence(error.what_without_backtrace()));
    }
  }
  /// Read like a file of inputs: that reader knows more of what torch.save writes than LibTorch does.
  c10::IValue read(const std::string &file) override {
    try {
      return read_inputs(file);
    } catch (const UserError &error) { // begins with the path, which is another one each time
      throw CannotCompile("what it wrote cannot be read: outputs.pt" + std::string(error.what()).substr(file.size()));
    }
  }
};

/// One that cannot be started now, though it could be before, has said nothing of the model.
class StartedProgram final : public AskedProgram {
public:
  using AskedProgram::AskedProgram;

private:
  End run(const std::vector<std::string> &files) override {
    End end = AskedProgram::run(files);
    if (!end.is_started)
      throw NoAnswer(end.message);
    return end;
  }
};

/// The same, asked of a program that serves.
class ServedProgram final : public AskedProgram {
public:
  ServedProgram(std::shared_ptr<const CommandServer> server, const torch::jit::Module &module, const fs::path &parent)
      : AskedProgram({}, module, parent), server_(std::move(server)) {}

private:
  End run(const std::vector<std::string> &files) override {
    const CommandServer::End end = server_->ask(files, seed());
    return {end.signal, end.exit_code, end.message, true};
  }
  const std::shared_ptr<const CommandServer> server_;
};

/// "serve.py -x" for "serve.py -x --serve".
std::string without_last_word(const std::string &line) {
  const size_t gap = line.find_last_of(" \t", line.find_last_not_of(" \t"));
  return line.substr(0, line.find_last_not_of(" \t", gap) + 1);
}

class CommandBackend final : public Backend, public Preparation, public Surroundings {
public:
  CommandBackend(const std::string &line, std::function<bool()> interrupted)
      : line_(line), words_(words_of(line)), interrupted_(std::move(interrupted)) {
    serves_ = words_.size() > 1 && words_.back() == "--serve";
    title_ = "the command " + (serves_ ? without_last_word(line) : line);
    if (serves_)
      words_.pop_back();
  }

  std::string name() const override { return "command:" + line_; }
  std::string summary() const override { return command_row().summary; }
  std::string title() const override { return title_; }
  std::string needs() const override { return "the program " + words_[0]; }
  /// The user's own.
  Confinement confinement() const override { return {.none = true}; }
  std::string unusable_because() const override {
    return find_program(words_[0]).empty() ? words_[0] + " is no program that can be started" : "";
  }
  /// Makes the folder for the children's files, which is removed at the end even if a child was killed, and starts the
  /// program if it serves.
  void start() const override {
    folder_ = std::make_unique<TemporaryFolder>();
    if (serves_)
      start_server(interrupted_);
  }
  void revive() const override {
    if (!server_ || server_->lives())
      return;
    try {
      start_server();
    } catch (const UserError &) { // a check that asks the old one is told that it is gone
    }
  }
  Identity identity() const override {
    Identity identity;
    identity.add_file("the program " + words_[0], find_program(words_[0]));
    std::error_code error;
    for (size_t i = 1; i < words_.size(); ++i)
      if (fs::is_regular_file(words_[i], error))
        identity.add_file("the file " + words_[i], words_[i]);
    return identity;
  }
  /// The program's writes to its inputs stay in its process, and no call depends on an earlier one.
  BackendTraits traits() const override { return {.boxed_call = true, .needs_several_calls = false}; }
  BackendParts parts() const override { return {.preparation = this, .surroundings = this}; }

  Compiled compile(torch::jit::Module module) const override {
    if (at::GradMode::is_enabled())
      throw UserError("--backend " + name() + ": a command computes no gradients; leave --grad out");
    const auto parent = folder_ ? folder_->path() : fs::temp_directory_path();
    return
        [program = server_ ? std::shared_ptr<CommandProgram>(std::make_shared<ServedProgram>(server_, module, parent))
                           : std::make_shared<StartedProgram>(words_, module, parent),
         name = name()](std::vector<c10::IValue> arguments) {
          if (at::autocast::is_autocast_enabled(at::kCPU) || at::autocast::is_autocast_enabled(at::kCUDA))
            throw UserError("--backend " + name + ": autocast does not reach another process; give --no-autocast");
          return (*program)(std::move(arguments));
        };
  }

  BackendSource source() const override {
    const std::string words = joined(words_, ", ", cpp_string);
    return {.includes = {"caffe2/serialize/inline_container.h", "torch/csrc/jit/passes/inliner.h",
                         "torch/csrc/jit/runtime/graph_iterator.h", "torch/csrc/jit/serialization/import_read.h",
                         "torch/csrc/jit/serialization/pickle.h", "cerrno", "cstdlib", "cstring", "fcntl.h",
                         "filesystem", "fstream", "signal.h", "stdexcept", "sys/prctl.h", "sys/wait.h", "system_error",
                         "unistd.h"},
            .prepare = "  std::vector<std::string> words = command;\n"
                       "  if (const char* other = std::getenv(\"REPRO_COMMAND\"))\n"
                       "    words = {\"sh\", \"-c\", std::string(other) + \" \\\"$@\\\"\", \"sh\"};\n"
                       "  CommandProgram call(words, module, std::filesystem::temp_directory_path());\n",
            .file_scope = "// Given a model, its inputs, and where to write what it returns. The environment variable "
                          "REPRO_COMMAND has another.\nstatic const std::vector<std::string> command = {" +
                          words + "};\n\n" + command_program_text};
  }

private:
  void start_server(const std::function<bool()> &interrupted = {}) const {
    auto words = words_;
    words.push_back("--serve");
    server_ = std::make_shared<CommandServer>(words, interrupted);
  }

  const std::string line_;
  std::vector<std::string> words_; ///< without --serve: a repro runs it once
  std::function<bool()> interrupted_;
  std::string title_;
  bool serves_ = false;
  mutable std::unique_ptr<TemporaryFolder> folder_;
  mutable std::shared_ptr<CommandServer> server_;
};

} // namespace

std::unique_ptr<Backend> make_command_backend(const std::string &line, const BackendOptions &options) {
  return std::make_unique<CommandBackend>(line, options.interrupted);
}

NamedRow command_row() {
  return {"command:CMD", "a program of your own, given a model and its inputs: docs/backends.md"};
}

} // namespace repro_minify
