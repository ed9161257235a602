"""Files: instances and allocations as JSON with their schemas, columns of traces, and how a file is written."""
