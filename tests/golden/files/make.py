#!/usr/bin/env python3
"""Writes the files that tests/lua/files_spec.lua and image_spec.lua read, beside itself. Needs NumPy.

Arrays are made by NumPy, pictures chunk by chunk as the PNG specification says. index.lua lists what each file holds.
"""
import pathlib
import struct
import warnings
import zlib

import numpy as np

here = pathlib.Path(__file__).parent
index = []
index_times = []


def lua(value):
    """A value as Lua source: nested lists, booleans, complex pairs, 64-bit integers that a double cannot hold."""
    if isinstance(value, list):
        return "{" + ", ".join(map(lua, value)) + "}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, complex):
        return "gpu.complex(%s, %s)" % (lua(value.real), lua(value.imag))
    if isinstance(value, int):
        return str(value) if abs(value) <= 2**53 else "%d%s" % (value, "LL" if value < 2**63 else "ULL")
    if value != value:
        return "0 / 0"
    return "%.17g" % value if abs(value) != float("inf") else ("-" if value < 0 else "") + "math.huge"


def values(dtype):
    """Six elements, the ends of the dtype's range among them."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([True, False, False, True, True, False])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        # -2^63 has no literal in Lua.
        return np.array([0, 1, 77, limits.max, limits.min + (dtype.kind == "i"), 100], dtype)
    limits = np.finfo(dtype)
    x = np.array([0, -1.5, float(limits.max), float(limits.tiny), 0.1, -100], dtype)
    return x + 1j * x[::-1] if dtype.kind == "c" else x


def entry(name, x, written=False):
    """`written`: gpulua writes these very bytes for the array."""
    index.append("  { file = %s, dtype = %s, shape = %s, values = %s, written = %s },"
                 % (lua_string(name), lua_string(x.dtype.newbyteorder("=").name), lua(list(x.shape)), lua(x.tolist()), lua(written)))


def lua_string(text):
    return '"' + text + '"'


def save(name, x, written=False):
    np.save(here / name, x)
    entry(name, x, written)


def save_as(name, x, version):
    with open(here / name, "wb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.lib.format.write_array(file, x, version=version)
    entry(name, x)


def raw(name, header, x, version=(1, 0)):
    """A file with a header of our own wording, of any length."""
    text = header.encode("latin1")
    length = struct.pack("<H" if version == (1, 0) else "<I", len(text))
    (here / name).write_bytes(b"\x93NUMPY" + bytes(version) + length + text + x.tobytes())


def refused(name):
    index.append("  { file = %s, refused = true }," % lua_string(name))


def arrays():
    names = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
             "float64", "complex64", "complex128"]
    for name in names:
        x = values(name).reshape(2, 3)
        save(name + ".npy", x, True)
        if x.dtype.itemsize > 1:
            save(name + "_big.npy", x.astype(x.dtype.newbyteorder(">")))
    x = np.arange(24, dtype="float32").reshape(2, 3, 4)
    save("scalar.npy", np.array(2.5), True)
    save("one.npy", np.arange(5, dtype="int32"), True)
    save("three.npy", x, True)
    save("many.npy", np.arange(1, dtype="uint8").reshape((1,) * 32), True)
    save("empty.npy", np.zeros(0, "float32"), True)
    save("empty_three.npy", np.zeros((3, 0, 2), "float64"), True)
    save("fortran.npy", np.asfortranarray(x))
    save("fortran_big.npy", np.asfortranarray(x.astype(">f8")))
    save("fortran_empty.npy", np.asfortranarray(np.zeros((2, 0, 3), "int8")))
    save("long.npy", np.arange(1000, dtype="int16") - 500, True)
    save_as("version2.npy", x, (2, 0))
    save_as("version3.npy", x, (3, 0))
    y = np.arange(6, dtype="<f8").reshape(2, 3)
    raw("unaligned.npy", "{'descr':'<f8','fortran_order':False,'shape':(2,3)}", y)
    entry("unaligned.npy", y)
    raw("python2.npy", '{"shape": (2L, 3L,),\n "fortran_order" : False , "descr" : "<f8",}   \n', y)
    entry("python2.npy", y)
    (here / "trailing.npy").write_bytes((here / "one.npy").read_bytes() + b"and more")
    entry("trailing.npy", np.arange(5, dtype="int32"))

    np.save(here / "structured.npy", np.zeros(3, [("a", "f4"), ("b", "i4")]))
    np.save(here / "objects.npy", np.array([1, "two"], object))
    np.save(here / "strings.npy", np.array(["one", "two"]))
    np.save(here / "bytes.npy", np.array([b"one", b"two"]))
    np.save(here / "times.npy", np.zeros(2, "datetime64[M]"))
    np.save(here / "long_double.npy", np.zeros(2, "longdouble"))
    for name in ["structured", "objects", "strings", "bytes", "times", "long_double"]:
        refused(name + ".npy")

    times = {}
    for unit, ours in {"D": "D", "W": "D", "h": "s", "m": "s", "25s": "s", "s": "s", "ms": "ms", "us": "us", "ns": "ns"}.items():
        for order in "<>":
            moments = np.array(["2024-02-29T12:34:56.789", "NaT", "1899-12-31T23:59:59"], "datetime64[ns]").astype(f"{order}M8[{unit}]")
            lengths = np.array([3, "NaT", -400], f"{order}m8[{unit}]")
            for x_times, kind in ((moments, "M8"), (lengths, "m8")):
                name = f"{kind}_{unit}_{'little' if order == '<' else 'big'}"
                times[name] = x_times
                # -2^63, which is NaT, has no literal in Lua.
                counts = [None if np.isnat(t) else int(t.astype(f"{kind}[{ours}]").astype("int64")) for t in x_times]
                index_times.append("  { name = %s, unit = %s, kind = %s, written = %s, values = {%s} }," % (
                    lua_string(name), lua_string("days" if ours == "D" else ours), lua_string("date" if kind == "M8" else "duration"),
                    lua(unit == ours and order == "<"), ", ".join("false" if c is None else lua(c) for c in counts)))
    np.savez(here / "times.npz", **times)
    both = {"x": x, "weights": values("float16"), "größe": np.asfortranarray(y)}
    np.savez(here / "named.npz", **both)
    np.savez_compressed(here / "compressed.npz", **both)
    np.savez(here / "list.npz", y, x)


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def pack_rows(samples, depth):
    """Unfiltered rows of a (height, width, channels) array."""
    rows = b""
    for row in samples.reshape(samples.shape[0], -1):
        if depth == 16:
            rows += b"\0" + row.astype(">u2").tobytes()
        elif depth == 8:
            rows += b"\0" + row.astype("u1").tobytes()
        else:
            bits = "".join(format(sample, "0%db" % depth) for sample in row)
            bits += "0" * (-len(bits) % 8)
            rows += b"\0" + bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))
    return rows


def picture(name, samples, depth, colour_type, decoded, extra=b"", interlaced=False):
    height, width = samples.shape[:2]
    samples = samples.reshape(height, width, -1)
    if interlaced:
        passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
        parts = [samples[y::dy, x::dx] for y, x, dy, dx in passes]
        rows = b"".join(pack_rows(part, depth) for part in parts if part.size)
    else:
        rows = pack_rows(samples, depth)
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, int(interlaced))
    (here / name).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(rows))
                              + chunk(b"IEND", b""))
    entry(name, decoded)


def pictures():
    random = np.random.default_rng(7)
    for depth in [8, 16]:
        dtype = "uint%d" % depth
        for channels, colour_type, kind in [(1, 0, "gray"), (2, 4, "gray_alpha"), (3, 2, "rgb"), (4, 6, "rgba")]:
            x = random.integers(0, 2**depth, (3, 5, channels)).astype(dtype)
            shown = x[:, :, 0] if channels == 1 else x
            picture("%s%d.png" % (kind, depth), x, depth, colour_type, shown)
    x = random.integers(0, 65536, (9, 10, 3)).astype("uint16")
    picture("interlaced.png", x, 16, 2, x, interlaced=True)
    for depth in [1, 2, 4]:
        x = random.integers(0, 2**depth, (3, 5))
        picture("gray%d.png" % depth, x, depth, 0, (x * (255 // (2**depth - 1))).astype("uint8"))
    palette = random.integers(0, 256, (4, 3)).astype("uint8")
    alpha = np.array([0, 100, 255, 255], "uint8")
    x = random.integers(0, 4, (3, 5))
    colours = chunk(b"PLTE", palette.tobytes())
    for depth in [2, 8]:
        picture("palette%d.png" % depth, x, depth, 3, palette[x], colours)
    transparent = np.concatenate([palette, alpha[:, None]], 1)
    picture("palette_alpha.png", x, 8, 3, transparent[x], colours + chunk(b"tRNS", alpha[:2].tobytes()))
    # A gamma says how to show the samples; they stay what they are.
    x = random.integers(0, 256, (2, 3)).astype("uint8")
    picture("gamma.png", x, 8, 0, x, chunk(b"gAMA", struct.pack(">I", 100000)))


arrays()
count = len(index)
pictures()
(here / "index.lua").write_text(
    "-- Made by make.py.\nlocal gpu = require \"gpu\"\nlocal files = {}\nfiles.arrays = {\n" + "\n".join(index[:count])
    + "\n}\nfiles.pictures = {\n" + "\n".join(index[count:]) + "\n}\nfiles.times = {\n" + "\n".join(index_times)
    + "\n}\nreturn files\n")
