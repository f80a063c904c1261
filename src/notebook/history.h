#pragma once

#include <string>
#include <vector>
#include <xeus/xhistory_manager.hpp>

namespace gpulua {

/// The cells that have run, for front ends with a prompt. (That of xeus 2 gives lines in a form of its own.)
class History : public xeus::xhistory_manager {
 private:
  void configure_impl() override {}
  void store_inputs_impl(int session, int line, const std::string& input, const std::string& output) override;
  nl::json get_tail_impl(int count, bool raw, bool output) const override;
  nl::json get_range_impl(int session, int start, int stop, bool raw, bool output) const override;
  nl::json search_impl(const std::string& pattern, bool raw, bool output, int count, bool unique) const override;

  nl::json entry(std::size_t index, bool output) const;

  std::vector<std::string> cells_;
};

}  // namespace gpulua
