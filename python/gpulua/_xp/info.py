"""What the namespace has."""
from .._dtype import of_name
from .dtypes import kinds, standard


class Info:
    """The functions of xp.__array_namespace_info__()."""

    def __init__(self, namespace):
        self._namespace = namespace

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        return self._namespace._state.device

    def default_dtypes(self, *, device=None):
        namespace = self._namespace
        names = {"real floating": namespace._dtype_of_number(0.0), "complex floating": namespace._default_complex(), "integral": "int64",
                 "indexing": "int64"}
        return {kind: of_name(name) for kind, name in names.items()}

    def dtypes(self, *, device=None, kind=None):
        if isinstance(kind, str):
            kind = (kind,)
        return {name: of_name(name) for name in standard if kind is None or any(name in kinds[one] for one in kind)}

    def devices(self):
        return self._namespace._lua("function() local names = {} for i, d in ipairs(gpu.devices()) do names[i] = d.name end return names end")()
