# Thin over CMake's presets: `cmake --preset release && cmake --build --preset release && ctest --preset release` does the same.
PRESET ?= release
BUILD = build/$(PRESET)

.PHONY: all deps run test asan bench-cpu format clean

all: deps
	@[ -f $(BUILD)/build.ninja ] || cmake --preset $(PRESET)
	cmake --build --preset $(PRESET)

deps:
	@tools/install-dependencies.sh

run: all
	$(BUILD)/bin/gpulua scripts/black_scholes.lua

test: all
	ctest --preset $(PRESET)

asan:
	$(MAKE) test PRESET=asan

bench-cpu: all
	bench/cpu_device/run.sh -b $(BUILD)

format:
	git ls-files '*.cpp' '*.h' | xargs clang-format -i

clean:
	rm -rf build
