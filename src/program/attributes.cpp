#include "program/flat_graph.h"

#include "program/values.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace repro_minify {
namespace {

using torch::jit::WithInsertPoint;
using ObjectPtr = c10::intrusive_ptr<c10::ivalue::Object>;

/// An attribute of a module, or of one of its submodules.
struct Attribute {
  ObjectPtr object;
  std::string name;
  std::string path; ///< "encoder.weight"
  std::pair<const c10::ivalue::Object *, std::string> key() const { return {object.get(), name}; }
  const c10::TypePtr &type() const { return object->type()->getAttribute(name); }
};

/// One object of this class serves one graph.
class AttributeResolver {
public:
  AttributeResolver(Program &program, InputBuilder &builder) : program_(program), builder_(builder) {}

  void resolve(Value *self, const ObjectPtr &object) {
    objects_[self] = {object, ""};
    find_objects(program_.graph->block());
    resolve_block(program_.graph->block());
    sweep();
  }

private:
  struct Known {
    ObjectPtr object;
    std::string path;
  };
  /// The value of each attribute at some place of the program: only looked up, as the order is one of addresses.
  using Values = std::map<std::pair<const c10::ivalue::Object *, std::string>, Value *>;

  void find_objects(Block *block) {
    for (Node *node : block->nodes()) {
      for (Block *inner : node->blocks())
        find_objects(inner);
      if (node->kind() == prim::CreateObject)
        note_made(node);
      else if (node->kind() == prim::GetAttr && objects_.count(node->input()))
        note_read(node);
    }
  }

  /// Its attributes are what is assigned to them, and nothing before.
  void note_made(Node *node) {
    const auto type = node->output()->type()->expect<c10::ClassType>();
    const auto object = c10::ivalue::Object::create(c10::StrongTypePtr(nullptr, type), type->numAttributes());
    objects_[node->output()] = {object, ""};
    makers_[object.get()] = node;
    nodes_of_objects_.push_back(node);
  }

  void note_read(Node *node) {
    const Attribute attribute = attribute_of(node);
    const auto value = attribute.object->getAttr(attribute.name);
    if (!value.isObject() || is_opaque_object(value))
      return;
    // The node stays until every read below it is resolved; unused, it is swept at the end.
    objects_[node->output()] = {value.toObject(), attribute.path};
    nodes_of_objects_.push_back(node);
  }

  bool is_made_inside(const Attribute &attribute, const Node *node) const {
    const auto found = makers_.find(attribute.object.get());
    for (const Node *at = found == makers_.end() ? nullptr : found->second; at; at = at->owningBlock()->owningNode())
      if (at == node)
        return true;
    return false;
  }

  /// Returns the attribute of a GetAttr or SetAttr. Throws CannotFlatten.
  Attribute attribute_of(const Node *node) const {
    const auto found = objects_.find(node->input(0));
    if (found == objects_.end())
      throw CannotFlatten(std::string("the model ") + (node->kind() == prim::SetAttr ? "assigns to" : "reads") +
                          " an attribute of an object that it passes around as a value");
    const auto &[object, path] = found->second;
    const std::string name = node->s(torch::jit::attr::name);
    return {object, name, path.empty() ? name : path + "." + name};
  }

  /// Returns the attributes that the blocks of `of` assign, each once, in order, but for those of objects made in
  /// there.
  std::vector<Attribute> assigned_in(const Node *of) const {
    std::vector<Attribute> assigned;
    for (const Block *block : of->blocks())
      find_assigned(block, of, assigned);
    return assigned;
  }
  void find_assigned(const Block *block, const Node *of, std::vector<Attribute> &assigned) const {
    for (const Node *node : block->nodes()) {
      for (const Block *inner : node->blocks())
        find_assigned(inner, of, assigned);
      if (node->kind() != prim::SetAttr)
        continue;
      const Attribute attribute = attribute_of(node);
      const auto is_it = [&](const Attribute &other) { return other.key() == attribute.key(); };
      if (!is_made_inside(attribute, of) && std::none_of(assigned.begin(), assigned.end(), is_it))
        assigned.push_back(attribute);
    }
  }

  void resolve_block(Block *block) {
    for (auto it = block->nodes().begin(); it != block->nodes().end();) {
      Node *node = *it++;
      if (node->kind() == prim::SetAttr)
        assign(node);
      else if (node->kind() == prim::GetAttr && !objects_.count(node->output()))
        read(node);
      else if (node->kind() == prim::Loop)
        resolve_loop(node);
      else if (!node->blocks().empty())
        resolve_branches(node);
    }
  }

  void assign(Node *node) {
    values_[attribute_of(node).key()] = node->input(1);
    node->destroy();
  }

  void read(Node *node) {
    node->output()->replaceAllUsesWith(value_of(attribute_of(node)));
    node->destroy();
  }

  /// Attributes that the body assigns become values that the loop carries.
  void resolve_loop(Node *node) {
    Block *body = node->blocks().at(0);
    const std::vector<Attribute> assigned = assigned_in(node);
    for (const Attribute &attribute : assigned) {
      node->addInput(value_of(attribute));
      values_[attribute.key()] = body->addInput()->setType(attribute.type());
    }
    resolve_block(body);
    for (const Attribute &attribute : assigned) {
      body->registerOutput(values_.at(attribute.key()));
      values_[attribute.key()] = node->addOutput()->setType(attribute.type());
    }
  }

  /// Each branch hands on what any of them assigns.
  void resolve_branches(Node *node) {
    const std::vector<Attribute> assigned = assigned_in(node);
    std::vector<Value *> before;
    for (const Attribute &attribute : assigned)
      before.push_back(value_of(attribute));
    for (Block *branch : node->blocks()) {
      for (size_t i = 0; i < assigned.size(); ++i)
        values_[assigned[i].key()] = before[i];
      resolve_block(branch);
      for (const Attribute &attribute : assigned)
        branch->registerOutput(values_.at(attribute.key()));
    }
    for (const Attribute &attribute : assigned)
      values_[attribute.key()] = node->addOutput()->setType(attribute.type());
  }

  /// Returns the attribute's value where the resolver has got to: an input or a constant if it was never assigned.
  Value *value_of(const Attribute &attribute) {
    auto &known = values_[attribute.key()];
    if (!known) {
      const auto &type = attribute.object->type();
      const bool parameter = type->is_parameter(type->getAttributeSlot(attribute.name));
      WithInsertPoint guard(*program_.graph->nodes().begin());
      try {
        known = builder_.materialise(attribute.object->getAttr(attribute.name), attribute.type(),
                                     parameter ? Role::Parameter : Role::Buffer, attribute.path);
      } catch (const CannotMaterialise &error) {
        throw CannotFlatten("attribute '" + attribute.path + "': " + error.what());
      }
    }
    return known;
  }

  void sweep() {
    // Innermost first: a read goes once nothing is read through it.
    std::reverse(nodes_of_objects_.begin(), nodes_of_objects_.end());
    for (Node *node : nodes_of_objects_) {
      if (node->hasUses())
        throw CannotFlatten(std::string("the model passes ") +
                            (node->kind() == prim::GetAttr ? "a submodule" : "an object that it makes") +
                            " around as a value");
      node->destroy();
    }
  }

  Program &program_;
  InputBuilder &builder_;
  std::unordered_map<const Value *, Known> objects_;
  Values values_;
  std::unordered_map<const c10::ivalue::Object *, const Node *> makers_; ///< of those made while the model runs
  std::vector<Node *> nodes_of_objects_;
};

} // namespace

void resolve_attributes(Program &program, InputBuilder &builder, Value *self, const ObjectPtr &object) {
  AttributeResolver(program, builder).resolve(self, object);
}

} // namespace repro_minify
