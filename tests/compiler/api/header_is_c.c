/* header_is_c.c - nvfp4gen.h is C */
#include "nvfp4gen.h"

size_t sizeOfOptionsInC(void);
size_t sizeOfOptionsInC(void) { return sizeof(nvfp4gen_options); }
