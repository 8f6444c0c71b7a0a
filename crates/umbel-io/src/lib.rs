//! Bytes in, keys out, in order, in parallel.
