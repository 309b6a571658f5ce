#include "repro/render.h"

#include "core/digest.h"
#include "core/escape.h"

#include <ctemplate/template.h>
#include <ctemplate/template_modifiers.h>

#include <mutex>
#include <stdexcept>

namespace repro_minify {
namespace {

/// A text of several lines stands in a line of its own, which has an end already.
std::string without_last_line_end(std::string text) {
  if (text.ends_with('\n'))
    text.pop_back();
  return text;
}

/// With a fence that the text cannot close; the language is that of the block.
std::string fenced(const std::string &text, const char *language) {
  return without_last_line_end(markdown_fence(text, language));
}

/// One kind of hole: how its text is escaped.
class Hole : public ctemplate::TemplateModifier {
public:
  explicit Hole(std::string (*escape)(const std::string &)) : escape_(escape) {}
  void Modify(const char *text, size_t size, const ctemplate::PerExpandData *, ctemplate::ExpandEmitter *out,
              const std::string &) const override {
    out->Emit(escape_(std::string(text, size)));
  }

private:
  std::string (*const escape_)(const std::string &);
};

void declare_holes() {
  static const std::pair<const char *, Hole> holes[] = {
      {"x-source", Hole([](const std::string &text) { return text; })},
      {"x-statements", Hole([](const std::string &text) { return without_last_line_end(text); })},
      {"x-cpp-comment", Hole(comment_text)},
      {"x-cpp-comment-lines",
       Hole([](const std::string &text) { return without_last_line_end(comment_block(text, "//")); })},
      {"x-cpp-string", Hole(cpp_string)},
      {"x-cpp-raw-string", Hole(raw_string)},
      {"x-py-comment-lines",
       Hole([](const std::string &text) { return without_last_line_end(comment_block(text, "#")); })},
      {"x-py-string", Hole(python_string)},
      {"x-markdown", Hole(markdown_text)},
      {"x-code", Hole(markdown_code)},
      {"x-html", Hole(html_text)},
      {"x-fence", Hole([](const std::string &text) { return fenced(text, ""); })},
      {"x-python-fence", Hole([](const std::string &text) { return fenced(text, "python"); })},
      {"x-cpp-fence", Hole([](const std::string &text) { return fenced(text, "cpp"); })},
      {"x-py-fence", Hole([](const std::string &text) { return fenced(text, "py"); })},
  };
  for (const auto &[name, hole] : holes)
    ctemplate::AddModifier(name, &hole);
}

/// ctemplate can leave out the lines that hold nothing but a mark, and then leaves out empty lines with them: those are
/// given a hole that nothing fills.
std::string with_empty_lines(const std::string &text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n' && (result.empty() || result.back() == '\n'))
      result += "{{nothing}}";
    result += c;
  }
  return result;
}

void load_templates() {
  declare_holes();
  for (const EmbeddedText *text = templates; text->name; ++text)
    if (!ctemplate::StringToTemplateCache(text->name, with_empty_lines(text->text), ctemplate::STRIP_BLANK_LINES))
      throw std::logic_error(std::string("the template ") + text->name + " is no template");
}

void fill(ctemplate::TemplateDictionary &dictionary, const std::string &name, const json &value);

void fill_section(ctemplate::TemplateDictionary &section, const json &value) {
  if (!value.is_object())
    return fill(section, "value", value);
  for (const auto &[name, inner] : value.items())
    fill(section, name, inner);
}

void fill(ctemplate::TemplateDictionary &dictionary, const std::string &name, const json &value) {
  if (value.is_string() || value.is_number())
    dictionary.SetValue(name, value.is_string() ? value.get<std::string>() : value.dump());
  const bool shows = value.is_boolean() ? value.get<bool>() : value.is_number() || (!value.empty() && value != "");
  if (!shows)
    dictionary.ShowSection("no_" + name);
  else if (!value.is_structured())
    dictionary.ShowSection(name);
  else
    for (const auto &element : value.is_array() ? value : json::array({value}))
      fill_section(*dictionary.AddSectionDictionary(name), element);
}

} // namespace

std::string render(const std::string &name, const json &values) {
  static std::once_flag once;
  std::call_once(once, load_templates);
  ctemplate::TemplateDictionary dictionary(name);
  fill_section(dictionary, values);
  std::string text;
  if (!ctemplate::ExpandTemplate(name, ctemplate::STRIP_BLANK_LINES, &dictionary, &text))
    throw std::logic_error("the template " + name + " cannot be filled");
  return text;
}

std::string template_text(const std::string &name) {
  for (const EmbeddedText *text = templates; text->name; ++text)
    if (name == text->name)
      return text->text;
  throw std::logic_error("there is no " + name);
}

json head_json() {
  const std::string css = template_text("page.css"), js = template_text("page.js");
  const std::string policy = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-" +
                             digest_in_base64(css) + "'; script-src 'sha256-" + digest_in_base64(js) + "'";
  return {{"css", css}, {"js", js}, {"policy", policy}};
}

} // namespace repro_minify
