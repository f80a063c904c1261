#pragma once

// A plan after each pass, as text, for the developers of the planner: CONTRIBUTING.md.

#include <span>
#include <string>
#include <vector>

#include "src/eval/rolls.h"
#include "src/eval/row_parts.h"
#include "src/eval/schedule.h"

namespace gpulua {

class PlanLog {
 public:
  /// `nodes` comes from collect(roots).
  PlanLog(std::span<const Root> roots, const NodeNumbers& nodes);

  /// What the passes have made.
  void rolls(const std::vector<RollUse>& rolls);
  void parts(const char* pass, const std::vector<StepPart>& parts);
  void parts(const char* pass, const std::vector<StepParts>& steps);
  void steps(const char* pass, const std::vector<Step>& steps);
  void schedule(const Step& step, const Schedule& schedule);

  const std::string& text() const { return text_; }

 private:
  void begin(const char* pass) { text_.append("---- ").append(pass).append("\n"); }
  std::string number(const Node* node) const { return "%" + std::to_string(nodes_.number(*node)); }
  void add(const Node& node);
  std::string text_of(const StepPart& part) const;

  const NodeNumbers& nodes_;
  std::string text_;
};

}  // namespace gpulua
