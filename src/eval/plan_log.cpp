#include "src/eval/plan_log.h"

#include "src/array/array.h"
#include "src/codegen/emit.h"

namespace gpulua {

namespace {

std::string results_of(const Schedule& schedule, unsigned results, unsigned lanes) {
  return ": " + std::to_string(schedule.results) + " results of " + std::to_string(schedule.count) +
         " elements, a block has " + std::to_string(results) + " with " + std::to_string(lanes) + " threads each";
}

std::string extent_of(const Schedule& schedule, const ElementwiseSpec& family) {
  std::string text = " over " + to_string(schedule.iteration.shape);
  for (const auto& [is_set, name] :
       {std::pair(family.spread, "spread"), std::pair(family.walks, "walks"), std::pair(family.fast_path, "fast path")})
    if (is_set) text.append(", ").append(name);
  return text;
}

std::string extent_of(const Schedule& schedule, const TiledSpec& family) {
  return " over " + to_string(schedule.iteration.shape) + ", tiles of " + std::to_string(family.edge);
}

std::string extent_of(const Schedule& schedule, const ReductionSpec& family) {
  return results_of(schedule, family.results, family.lanes) + ", " + std::to_string(schedule.chunks) + " chunks";
}

std::string extent_of(const Schedule& schedule, const RowSpec& family) {
  return results_of(schedule, family.results, family.lanes);
}

std::string extent_of(const Schedule& schedule, const CompressSpec&) {
  return " over " + to_string(schedule.iteration.shape);
}

}  // namespace

PlanLog::PlanLog(std::span<const Root> roots, const NodeNumbers& nodes) : nodes_(nodes) {
  begin("collect");
  for (const Node* node : nodes) add(*node);
  for (const Root& root : roots)
    text_ += "root " + number(root.node) + (root.target ? " to " + type_text(*root.target) : "") +
             (root.scatter ? " at positions" : "") + (root.mask ? " where " + number(root.mask) : "") + "\n";
}

void PlanLog::add(const Node& node) {
  text_ += number(&node) + " = " + type_text(node);
  const Pending* pending = node.pending();
  if (pending) {
    text_ += pending->op        ? " " + std::string(pending->op->name)
             : pending->reducer ? " " + std::string(pending->reducer->name)
             : pending->indexed ? " gather"
             : pending->roll    ? " roll by " + to_string(*pending->roll)
                                : " number";
    for (const Array& input : pending->inputs) text_ += " " + number(input.get());
    if (pending->computed) text_ += ", computed before";
  }
  text_ += "\n";
}

void PlanLog::rolls(const std::vector<RollUse>& rolls) {
  begin("rolls");
  for (std::size_t i = 0; i < rolls.size(); ++i)
    if (rolls[i].rolled || rolls[i].stored)
      text_ += number(nodes_[i]) + (rolls[i].rolled ? " rolled" : "") + (rolls[i].stored ? " stored" : "") +
               (rolls[i].alone ? " alone" : "") + "\n";
}

std::string PlanLog::text_of(const StepPart& part) const {
  std::string text = part.group < 0 ? "elementwise over " : "reduction of ";
  text += to_string(part.domain) + (part.alone ? ", alone" : "") + (part.nested ? ", nested:" : ":");
  for (const Node* node : part.nodes) text += " " + number(node);
  return text;
}

void PlanLog::parts(const char* pass, const std::vector<StepPart>& parts) {
  begin(pass);
  for (const StepPart& part : parts) text_ += text_of(part) + "\n";
}

void PlanLog::parts(const char* pass, const std::vector<StepParts>& steps) {
  begin(pass);
  for (const StepParts& parts : steps)
    for (const StepPart& part : parts) text_ += (&part == &parts.front() ? "" : "  and ") + text_of(part) + "\n";
}

void PlanLog::steps(const char* pass, const std::vector<Step>& steps) {
  begin(pass);
  for (const Step& step : steps) {
    text_ += std::string(gpulua::text_of(step.kind)) + to_string(step.domain) + ", reads";
    for (const StepOperand& operand : step.operands)
      if (operand.node) text_ += " " + number(operand.node);
    text_ += ", stores";
    for (const StepOutput& output : step.outputs) text_ += " " + number(output.node) + (output.target ? "!" : "");
    text_ += "\n";
  }
}

void PlanLog::schedule(const Step& step, const Schedule& schedule) {
  const KernelSpec& spec = schedule.spec;
  begin("schedule");
  text_ += spec.name();
  text_ += std::visit([&](const auto& family) { return extent_of(schedule, family); }, spec.family);
  text_ += ", vectors of " + std::to_string(spec.vector) + (spec.wide ? ", wide" : "");
  text_ += "\n";
  if (schedule.empty() || step.kind == Step::Kind::copy) return;
  begin("emit");
  text_ += emit_body(spec);
}

}  // namespace gpulua
