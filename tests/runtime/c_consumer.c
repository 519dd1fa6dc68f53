/* c_consumer.c - the public header in a C99 program, linked with libnvfp4rt.so alone. */
#include "nvfp4rt.h"

#include <stdio.h>
#include <string.h>

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, nvfp4rt_last_error());
  return 1;
}

int main(void) {
  nvfp4rt_bundle *bundle = NULL;
  nvfp4rt_kv_store_args args = NVFP4RT_INIT(nvfp4rt_kv_store_args);
  if (args.struct_size != sizeof(args) || args.slots != NULL || args.rows != 0)
    return fail("an initialized argument struct");
  if (nvfp4rt_version_number() != NVFP4RT_VERSION_NUMBER)
    return fail("version number");
  if (nvfp4rt_last_error()[0] != 0)
    return fail("a message before any failure");
  if (strchr(nvfp4rt_version(), '.') == NULL)
    return fail("version");
  if (nvfp4rt_bundle_open_file("/nonexistent.hsaco", &bundle) != NVFP4RT_ERROR_IO || bundle != NULL)
    return fail("open of a file that is not there");
  if (strstr(nvfp4rt_last_error(), "/nonexistent.hsaco") == NULL)
    return fail("the message does not name the file");
  if (nvfp4rt_bundle_open_memory(&args, sizeof(args), &bundle) != NVFP4RT_ERROR_BAD_ELF)
    return fail("open of bytes that are no ELF");
  if (strcmp(nvfp4rt_status_name(NVFP4RT_ERROR_BAD_ELF), "NVFP4RT_ERROR_BAD_ELF") != 0)
    return fail("status name");
  if (strcmp(nvfp4rt_status_name((nvfp4rt_status)77), "NVFP4RT_ERROR_UNKNOWN") != 0)
    return fail("name of a number that is no status");
  return 0;
}
