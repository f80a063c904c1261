"""Errors that leave the package: their tracebacks show the caller's lines, and of the package one."""
import functools
import inspect
import os

_folder = os.path.dirname(inspect.currentframe().f_code.co_filename) + os.sep

# What runs for every use of an attribute, and raises its errors itself.
_without = ("__del__", "__getattr__", "__setattr__")


def _of_others(traceback):
    """The part of a traceback from the first frame on that is not the package's, such as that of a function which Lua has called."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(_folder):
        traceback = traceback.tb_next
    return traceback


def _shown_once(function):
    @functools.wraps(function)
    def call(*arguments, **options):
        try:
            return function(*arguments, **options)
        except BaseException as error:
            raise error.with_traceback(_of_others(error.__traceback__))
    return call


def hide_frames(kind):
    """Of a class: its methods and properties that others use raise errors without the frames of what they call in the package."""
    for name, value in list(vars(kind).items()):
        if name.startswith("_") and not name.endswith("__") or name in _without:
            continue
        if inspect.isfunction(value):
            setattr(kind, name, _shown_once(value))
        elif type(value) is property:
            parts = (value.fget, value.fset, value.fdel)
            setattr(kind, name, property(*(part and _shown_once(part) for part in parts), value.__doc__))
