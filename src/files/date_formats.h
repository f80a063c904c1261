#pragma once

// What texts of dates are that are not in ISO 8601, for messages.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gpulua {

/// The usual formats that read the text, the likeliest first.
std::vector<std::string> date_formats(std::string_view text);

/// "; ... reads it" for a text that is no date of ISO 8601, and "" where nothing tells. `reads`: how to give a format.
std::string date_advice(std::string_view text, const std::function<std::string(const std::string& format)>& reads);

}  // namespace gpulua
