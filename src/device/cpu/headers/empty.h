// Everything that this header declares is there without it.
