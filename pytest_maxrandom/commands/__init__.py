"""The commands: `add_parser` describes a module's commands, which return what is printed."""
