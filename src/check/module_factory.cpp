#include "check/module_factory.h"

#include "program/parts.h"

namespace repro_minify {

ModuleFactory factory_for(std::shared_ptr<const Program> program, const Backend &backend) {
  if (backend.traits().needs_flat_graph)
    return factory_of(std::move(program));
  return [program = std::move(program)](const InstantiateOptions &options) {
    return instantiate_in_parts(*program, options);
  };
}

} // namespace repro_minify
