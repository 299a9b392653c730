"""The commands, one module for each group: ``add_arguments(parser, command)`` and
``run(arguments)``. `explorer.cli` lists them and imports a module when its command is parsed."""
