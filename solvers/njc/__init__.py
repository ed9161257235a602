"""Methods for no justified complaints: enumeration, integer program, market and trajectory."""
