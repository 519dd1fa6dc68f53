//! fails
  v_pk_fma_f32 v[0:1], v[64:65], v[66:67], v[68:69] op_sel:[0,1,0]
//! fails
  v_pk_fma_f32 v[0:1], v[64:65], v[66:67], v[68:69] op_sel:[0,1,0] op_sel_hi:[1,0,1]
//! passes
  v_pk_fma_f32 v[0:1], v[64:65], v[66:67], v[68:69]
//! passes
  v_pk_mul_f32 v[0:1], v[64:65], v[66:67] op_sel:[0,1]
