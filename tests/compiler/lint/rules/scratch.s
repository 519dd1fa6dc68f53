//! fails
  scratch_load_dword v0, off, s4
//! fails
  scratch_store_dword v64, v65, off
//! passes
  global_load_dword v0, v[64:65], off
