# Thin over CMake's presets: `cmake --preset release && cmake --build --preset release && ctest --preset release` does the same.
PRESET ?= release
BUILD = build/$(PRESET)

PREFIX ?= /usr/local

.PHONY: all deps install run test asan bench-cpu format clean

all: deps
	@[ -f $(BUILD)/build.ninja ] || cmake --preset $(PRESET)
	cmake --build --preset $(PRESET)

deps:
	@tools/install-dependencies.sh

# As root where the folder is not the user's own.
install: all
	@mkdir -p $(PREFIX) 2>/dev/null; if [ -w $(PREFIX) ]; then root=; else root=sudo; fi; $$root cmake --install $(BUILD) --prefix $(PREFIX)

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
