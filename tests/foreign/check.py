"""Files between gpulua and pandas, pyarrow, h5py and safetensors, both ways, bit by bit; the magics in IPython."""
import h5py
import numpy as np
import pandas
import pyarrow
import pyarrow.csv
import safetensors.numpy
from pyarrow.cffi import ffi

import gpulua

state = gpulua.State("cpu")
n = 5000
random = np.random.default_rng(1)
bits = random.integers(0, 2**64, n, dtype="uint64").view("float64")
frame = pandas.DataFrame({
    "id": np.arange(n), "bits": np.where(np.isfinite(bits), bits, 0.0), "price": np.where(random.random(n) < 0.1, np.nan, random.random(n)),
    "large": random.integers(2**63, 2**64, n, dtype="uint64"), "ok": random.random(n) < 0.5,
    "city": random.choice(["Oslo", "New York, NY", 'the "Hague"', "two\nlines", "Zürich"], n),
})


def column(name):
    return state.table("t")[name]


def check(expected, got, name):
    expected = np.asarray(expected)
    assert expected.dtype.kind == np.asarray(got).dtype.kind or name == "city", (name, expected.dtype, got.dtype)
    if expected.dtype.kind == "f":
        assert (np.isnan(expected) == np.isnan(got)).all(), name
        expected, got = np.nan_to_num(expected, nan=0).view("uint64"), np.nan_to_num(np.asarray(got), nan=0).view("uint64")
    assert (expected == got).all(), name


def read(path):
    state.run(f"t = assert(gpu.load '{path}')")
    for name in frame.columns:
        check(frame[name].to_numpy(), column(name), name)


frame.to_csv("pandas.csv", index=False)
read("pandas.csv")
pyarrow.csv.write_csv(pyarrow.Table.from_pandas(frame, preserve_index=False), "arrow.csv")
read("arrow.csv")
frame.to_csv("pandas.tsv", index=False, sep="\t", lineterminator="\r\n", quoting=1)
state.run("t = gpu.load 'pandas.tsv'")
print("gpulua reads what pandas and pyarrow write:", n, "rows of", ", ".join(frame.columns))

state.run("t = gpu.load 'pandas.csv'; gpu.save('ours.csv', t)")
for reader, back in [("pandas", pandas.read_csv("ours.csv")),
                     ("pyarrow", pyarrow.csv.read_csv("ours.csv", parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
                                             convert_options=pyarrow.csv.ConvertOptions(column_types={"large": pyarrow.uint64()})).to_pandas())]:
    for name in frame.columns:
        check(frame[name].to_numpy(), back[name].to_numpy(), name)
    print(reader, "reads what gpulua writes")

groups = frame.groupby("city")["price"]
for op in ["sum", "mean", "min", "max", "median", "var", "std"]:
    state.run(f"t = gpu.load('pandas.csv'):group_by 'city':{op}('price')")
    np.testing.assert_allclose(column("price"), getattr(groups, op)().to_numpy(), rtol=1e-12)
print("groups have pandas' sums, means, extremes, medians and variances")

tensors = {dtype: random.integers(0, 2, (3, 4)).astype(dtype) for dtype in
           ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]}
safetensors.numpy.save_file(tensors, "theirs.safetensors", metadata={"by": "numpy"})
state.run("t = gpu.load 'theirs.safetensors'; gpu.save('ours.safetensors', t, {metadata = {by = 'gpulua'}})")
for name, back in safetensors.numpy.load_file("ours.safetensors").items():
    assert back.dtype == tensors[name].dtype and (back == tensors[name]).all(), name
print("safetensors:", len(tensors), "dtypes there and back")

tensors |= {dtype: random.random((3, 4)).astype(dtype) for dtype in ["complex64", "complex128"]}
with h5py.File("theirs.h5", "w") as file:
    for name, x in tensors.items():
        file.create_dataset("group/" + name, data=x, **({"chunks": (2, 2), "compression": "gzip"} if name == "float64" else {}))
    file["text"], file["turned"] = "left out", np.arange(6.0, dtype=">f8")
state.run("t = gpu.load 'theirs.h5'; assert(t.turned[6] == 5); gpu.save('ours.h5', t)")
with h5py.File("ours.h5") as file:
    assert set(file) == {"group", "turned"}
    for name, x in tensors.items():
        back = file["group/" + name][()]
        assert back.dtype == x.dtype and (back == x).all(), (name, back.dtype)
print("h5py:", len(tensors), "dtypes there and back")

state["t"] = frame
for name in frame.columns:
    check(frame[name].to_numpy(), column(name), name)
back = pandas.DataFrame(state.table("t"))
for name in frame.columns:
    check(frame[name].to_numpy(), np.asarray(back[name]), name)
check(frame["price"].to_numpy() * 2, state["gpu.multiply"](frame["price"], 2).numpy(), "price")
print("pandas: a DataFrame and a Series there and back")

schema, array = ffi.new("struct ArrowSchema*"), ffi.new("struct ArrowArray*")
addresses = [int(ffi.cast("uintptr_t", struct)) for struct in (schema, array)]
pyarrow.RecordBatch.from_pandas(frame, preserve_index=False)._export_to_c(*reversed(addresses))
state["schema"], state["array"] = addresses
state.run("t = gpu.from_arrow(schema, array)")
for name in frame.columns:
    check(frame[name].to_numpy(), column(name), name)
state.run("gpu.to_arrow(t, schema, array)")
back = pyarrow.RecordBatch._import_from_c(*reversed(addresses))
back.validate(full=True)
for name in frame.columns:
    check(frame[name].to_numpy(), np.asarray(back.to_pandas()[name]), name)
print("pyarrow: the Arrow C data interface there and back")

days = random.integers(-30000, 30000, n).astype("datetime64[D]")
dates = pandas.DataFrame({unit: days.astype(f"datetime64[{unit}]") + random.integers(0, 10**9, n).astype(f"timedelta64[{unit}]")
                          for unit in ["s", "ms", "us", "ns"]})
dates.loc[::7, :] = pandas.NaT


def check_dates(back):
    for name in dates.columns:
        expected, got = dates[name].to_numpy(), np.asarray(back[name])
        assert expected.dtype == got.dtype and ((expected == got) | (np.isnat(expected) & np.isnat(got))).all(), name


dates.to_csv("dates.csv", index=False)
state.run("t = gpu.load 'dates.csv'; gpu.save('dates.tsv', t)")
check_dates(state.table("t"))
state.run("t = gpu.load 'dates.tsv'")
check_dates(state.table("t"))
state["t"] = dates
check_dates(state.table("t"))
batch = pyarrow.RecordBatch.from_pandas(dates, preserve_index=False)
whole = days.astype(object)
batch = pyarrow.record_batch([*batch.columns, pyarrow.array(whole, pyarrow.date32())], [*dates.columns, "day"])
batch._export_to_c(*reversed(addresses))
state.run("t = gpu.from_arrow(schema, array)")
check_dates(state.table("t"))
assert (state.table("t")["day"] == days).all()
state.run("gpu.to_arrow(t, schema, array)")
back = pyarrow.RecordBatch._import_from_c(*reversed(addresses))
back.validate(full=True)
assert back.equals(batch)
print("pandas and pyarrow: dates there and back")

# Columns with pandas' own kinds of numbers and texts, some of them missing.
kinds = {"whole": pandas.array([1, None], "Int64"), "real": pandas.array([1.5, None], "Float64"), "full": pandas.array([2**62, 3], "Int64"),
         "flag": pandas.array([True, False], "boolean"), "text": pandas.array(["a", None], "string"), "kind": pandas.Categorical(["b", "a"]),
         "zone": pandas.date_range("2020-01-01", periods=2, tz="Europe/Berlin")}
found = state.table(state.new_table(pandas.DataFrame(kinds)))
for name, expected in {"whole": [1, np.nan], "real": [1.5, np.nan], "full": [2**62, 3], "flag": [True, False]}.items():
    np.testing.assert_array_equal(found[name], expected)
    np.testing.assert_array_equal(state.array(pandas.Series(kinds[name])).numpy(), expected)
assert found["text"].tolist() == ["a", ""] and found["kind"].tolist() == ["b", "a"] and found["full"].dtype == "int64"
assert (found["zone"] == kinds["zone"].tz_convert("UTC").tz_localize(None).to_numpy()).all()
for values, error in [(pandas.array([True, None], "boolean"), TypeError), (pandas.array([2**60, None], "Int64"), ValueError)]:
    for use in (lambda: state.array(pandas.Series(values)), lambda: state.new_table({"x": values})):
        try:
            use()
            raise AssertionError(f"{values} crosses")
        except error as refusal:
            assert "missing" in str(refusal)
print("pandas' nullable columns: numbers, texts, categories and zones")

from IPython.core.interactiveshell import InteractiveShell  # noqa: E402
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "gpulua")
shell.user_ns["x"] = np.arange(4.0)
shell.run_cell_magic("gpulua", "-i x -o y --device cpu", "y = x * 2")
assert (shell.user_ns["y"].numpy() == [0, 2, 4, 6]).all() and shell.run_line_magic("gpulua", "y:sum():item()") == 12
print("IPython runs %%gpulua")
