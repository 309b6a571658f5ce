#include "repro/script_text.h"

#include "check/unwritten_memory.h"
#include "repro_minify/backend_parts.h"

#include <algorithm>

namespace repro_minify {

using nlohmann::json;

json script_settings(const ScriptParts &parts) {
  const ReproFacts &facts = parts.facts;
  const bool on_cpu = facts.check.device.is_cpu();
  json lines = parts.call.settings;
  if (facts.backend->parts().repro_in_python && facts.reads_unwritten.value_or(false)) {
    lines.push_back("import ctypes");
    lines.push_back("ctypes.CDLL(None).mallopt(-6, " + std::to_string(usual_perturbation) +
                    ")  # uninitialised memory holds the same each time (M_PERTURB)");
  }
  if (!on_cpu && facts.check.tf32)
    lines.push_back("torch.backends.cuda.matmul.allow_tf32 = True");
  if (!on_cpu && !facts.check.tf32)
    lines.push_back("torch.backends.cudnn.allow_tf32 = False");
  if (parts.form.interpreted || facts.check.threads != 1)
    lines.push_back("torch.set_num_threads(" + std::to_string(facts.check.threads) + ")");
  if (parts.form.interpreted && !facts.check.grad)
    lines.push_back("torch.set_grad_enabled(False)");
  if (parts.text.draws)
    for (const auto &line : parts.call.random_settings)
      lines.push_back(line);
  if (facts.needs_determinism && facts.check.determinism != Determinism::Off && !on_cpu) {
    lines.push_back("import os");
    lines.push_back(
        "os.environ.setdefault(\"CUBLAS_WORKSPACE_CONFIG\", \":4096:8\")  # cuBLAS is not deterministic without");
  }
  if (facts.needs_determinism && facts.check.determinism != Determinism::Off && (parts.text.draws || !on_cpu))
    lines.push_back("torch.use_deterministic_algorithms(True, warn_only=True)");
  std::stable_partition(lines.begin(), lines.end(), [](const json &line) { // imports stand together
    const auto &text = line.get_ref<const std::string &>();
    return text.starts_with("import ") || text.starts_with("from ");
  });
  return lines;
}

} // namespace repro_minify
