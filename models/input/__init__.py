"""What `Instance` is given: arrays, dictionaries and tables, read and checked."""
