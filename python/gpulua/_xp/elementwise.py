"""Elementwise functions: those of Lua, most with the same name."""

# {name: name in Lua} where they differ.
_names = {"bitwise_invert": "bitwise_not", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift", "equal": "eq",
          "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge", "pow": "power"}
_unary = """abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan log log1p log2
    log10 logical_not negative positive real reciprocal round sign signbit sin sinh square sqrt tan tanh trunc""".split()
_binary = """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal floor_divide greater
    greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal pow
    remainder subtract""".split()


class Elementwise:
    """Functions of each element."""

    def clip(self, x, /, min=None, max=None):
        for bound, lua in ((min, "gpu.maximum"), (max, "gpu.minimum")):
            if bound is not None:
                x = self.astype(self._lua(lua)(x, bound), x.dtype, copy=False)
        return x if min is not None or max is not None else x.copy()


def _function(name, binary):
    lua = f"gpu.{_names.get(name, name)}"
    if name.startswith("logical") and binary:  # in Lua a boolean is likely a mistake here, x == y
        def function(self, x1, x2, /):
            return self._lua(lua)(*[int(x) if isinstance(x, bool) else x for x in (x1, x2)])
    elif binary:
        def function(self, x1, x2, /):
            return self._lua(lua)(x1, x2)
    else:
        def function(self, x, /):
            return self._lua(lua)(x)
    function.__name__ = function.__qualname__ = name
    return function


for _name in _unary + _binary:
    setattr(Elementwise, _name, _function(_name, _name in _binary))
