# Thin over CMake's presets: `cmake --preset release && cmake --build --preset release && ctest --preset release` does the same.
PRESET ?= release
BUILD = build/$(PRESET)

PREFIX ?= /usr/local

.PHONY: all command built deps docs install packages rock wheel kernels run test quick asan bench-cpu format clean

all: deps
	@grep -qs '^BUILD_TESTING:BOOL=ON' $(BUILD)/CMakeCache.txt || cmake --preset $(PRESET) -DBUILD_TESTING=ON
	cmake --build --preset $(PRESET)

deps:
	@tools/install-dependencies.sh

# What a script needs: no tests, and no packages of theirs.
command:
	@tools/install-dependencies.sh command
	@[ -f $(BUILD)/build.ninja ] || cmake --preset $(PRESET) -DBUILD_TESTING=OFF
	cmake --build --preset $(PRESET) --target command

# What is installed: the command, the library, the plugins, and the notebooks' kernel where xeus-dev is there.
built:
	@tools/install-dependencies.sh command
	@[ -f $(BUILD)/build.ninja ] || cmake --preset $(PRESET) -DBUILD_TESTING=OFF
	cmake --build --preset $(PRESET) --target built

# As root where the folder is not the user's own.
install: built
	@mkdir -p $(PREFIX) 2>/dev/null; if [ -w $(PREFIX) ]; then root=; else root=sudo; fi; $$root cmake --install $(BUILD) --prefix $(PREFIX)

packages: built
	@tools/install-dependencies.sh packages
	cpack --config $(BUILD)/CPackConfig.cmake

# For `luarocks install FILE` on any machine: the rockspec with the sources.
rock:
	@tools/install-dependencies.sh packages
	tools/rock.sh $(BUILD)/packages

# The site, in build/site/html: by Debian's mkdocs-material, without the network.
docs: command
	@tools/install-dependencies.sh docs
	mkdir -p build/site
	GPULUA_CACHE_DIR=$(CURDIR)/$(BUILD)/cache $(BUILD)/bin/gpulua --device cpu tools/site.lua . build/site
	mkdocs build --quiet --clean -f build/site/mkdocs.yml -d html

# The Python package, with the libraries of this build.
wheel: built
	python/build_wheel.py $(BUILD) $(BUILD)/packages $$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' $(BUILD)/CMakeCache.txt)

# The library's kernels, compiled ahead, for installations, packages, wheels and stages that are made afterwards.
kernels: all
	cmake --build --preset $(PRESET) --target kernels

run: command
	$(BUILD)/bin/gpulua scripts/black_scholes.lua

test: all
	ctest --preset $(PRESET)

# About a minute: all but the tests that take longest.
quick: all
	ctest --preset $(PRESET) -L quick

asan:
	$(MAKE) test PRESET=asan

bench-cpu: all
	cmake --build --preset $(PRESET) --target benches
	bench/cpu_device/run.sh -b $(BUILD)

format:
	git ls-files '*.cpp' '*.h' | xargs clang-format -i

clean:
	rm -rf build
