"""Everything that depends on the operating system: files, caches, object code, memory, GPUs, interrupts and progress bars."""
