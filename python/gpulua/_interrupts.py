"""Ctrl-C during a call of the library."""
import contextlib
import os
import select
import signal
import threading

from ._library import lib

# Python runs its handlers of signals between calls of C functions only. But the signal itself at once writes a byte to a file that
# Python is given, and a thread that waits for such bytes stops the call.
_running = None   # the handle of the state whose call the main thread is in
_elsewhere = -1   # the file that another library has given to Python, such as asyncio
_reader = _writer = None


def _read(reader):
    """The signals that have come."""
    try:
        return os.read(reader, 4096)
    except BlockingIOError:
        return b""


def _watch(reader):
    while True:
        select.select([reader], [], [])
        signals = _read(reader)
        if _elsewhere >= 0:
            with contextlib.suppress(OSError):  # a full or closed one, as Python does
                os.write(_elsewhere, signals)
        if signal.SIGINT in signals and _running is not None:
            lib.interrupt(_running)


def _open():
    """For the process's life."""
    global _reader, _writer
    _reader, _writer = os.pipe()
    for end in (_reader, _writer):
        os.set_blocking(end, False)
    threading.Thread(target=_watch, args=(_reader,), name="gpulua interrupts", daemon=True).start()


def _forget():
    """In a new process, which has no such thread."""
    global _reader
    _reader = None


os.register_at_fork(after_in_child=_forget)


def stoppable(state, work):
    """The result of work(), which calls the library for the state's handle: Ctrl-C stops that call."""
    global _running, _elsewhere
    if threading.current_thread() is not threading.main_thread():
        return work()
    if _reader is None:
        _open()
    outer, before = (_running, _elsewhere), signal.set_wakeup_fd(_writer, warn_on_full_buffer=False)
    try:
        _running, _elsewhere = state, -1 if before == _writer else before
        return work()
    except BaseException:
        _read(_reader)  # a signal that has ended this call stops no later one
        raise
    finally:
        signal.set_wakeup_fd(before)
        _running, _elsewhere = outer
