#include "repro/policy.h"

#include "core/digest.h"
#include "repro/templates.h"

#include <stdexcept>
#include <string>

namespace repro_minify {
namespace {

std::string text_of(const std::string &name) {
  for (const EmbeddedText *text = templates; text->name; ++text)
    if (name == text->name)
      return text->text;
  throw std::logic_error("there is no " + name);
}

} // namespace

nlohmann::json head_json() {
  const std::string css = text_of("page.css"), js = text_of("page.js");
  const std::string policy = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-" +
                             digest_in_base64(css) + "'; script-src 'sha256-" + digest_in_base64(js) + "'";
  return {{"css", css}, {"js", js}, {"policy", policy}};
}

} // namespace repro_minify
