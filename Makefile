# The build is meson's; this file is its short names. BUILD=dir builds elsewhere. `make bench` needs
# DATA=folder with base.fvecs, query.fvecs and truth.ivecs.
BUILD ?= build
PREFIX ?= /usr/local

build: $(BUILD)/build.ninja
	meson compile -C $(BUILD) paua:executable paua:shared_library libpaua.a

$(BUILD)/build.ninja:
	meson setup --buildtype=release --prefix=$(PREFIX) $(BUILD)

deps:
	tools/deps

demo: deps
	$(MAKE) build
	demo/run $(BUILD)/paua

test: deps
	@tools/test quick

test-all:
	tools/deps --all
	@tools/test all

install: build
	meson install -C $(BUILD) --no-rebuild

bench: build
	bench/run $(BUILD)/paua $(DATA)

format:
	tools/check-format --fix

clean:
	rm -rf build build-asan build-tsan build-fuzz

.PHONY: build deps demo test test-all install bench format clean
