#pragma once

// Handles of the C interface. A host program may pass anything: null, a handle that it has closed, a handle of another
// kind, any address. So a handle is no address but a number in a pointer's clothes: the place of a slot in a table of
// the process, the generation of the slot, and the kind. A look-up reads the table alone, never what a stranger's
// pointer points to. Slots are used again under a new generation and never given back.

namespace gpulua::embed {

enum class HandleKind : unsigned char { none, state, function, array };

/// A new handle of the object. Throws std::bad_alloc.
void* open_handle(HandleKind kind, void* object);
/// Why a handle is closed: its last release, or the end of its state.
enum class Closing : unsigned char { release, end };

/// The handle means nothing from now on. Waits until no Pin holds it. Does nothing for a handle that was closed before.
void close_handle(const void* handle, Closing why) noexcept;
/// The object of an open handle of that kind; null for anything else. The caller knows that no other thread closes the
/// handle meanwhile.
void* find_object(const void* handle, HandleKind kind) noexcept;
/// What the value is, for messages: "NULL", "a gpulua_array that was released: ...", "a gpulua_function", "an address
/// that is not a handle".
const char* describe_handle(const void* handle) noexcept;

/// Keeps a handle open that another thread may close: close_handle() waits for it. Takes no lock, so that a signal
/// handler can use it.
class Pin {
 public:
  Pin(const void* handle, HandleKind kind) noexcept;
  ~Pin();
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
  /// Null when the handle is not open.
  void* object() const { return object_; }

 private:
  void* slot_;
  void* object_;
};

}  // namespace gpulua::embed
