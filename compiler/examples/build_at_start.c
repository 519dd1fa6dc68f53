/* build_at_start.c - a serving stack that builds what its bundle lacks, once, before it serves.
 *
 *   build_at_start SPEC FAMILY REQUESTS [BUNDLE]
 *
 * Opens the shipped BUNDLE and asks it for the step; when it has no variant for it, or there is no
 * bundle, builds the SPEC in this process and takes that. Then every kernel is loaded and the
 * bundle is frozen: from there on nothing is compiled, loaded or allocated. NVFP4RT_HIP_LIBRARY
 * names the HIP library.
 */
#include "nvfp4gen.h"
#include "nvfp4rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int die(const char *what, const char *message) {
  fprintf(stderr, "build_at_start: %s: %s\n", what, message);
  return 1;
}

/* The whole file with a terminating NUL; NULL when it cannot be read. */
static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  long length;
  if (!file)
    return NULL;
  if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0 &&
      fseek(file, 0, SEEK_SET) == 0 && (text = malloc((size_t)length + 1)) != NULL) {
    *size = fread(text, 1, (size_t)length, file);
    text[*size] = 0;
  }
  fclose(file);
  return text;
}

static void on_progress(void *user, const nvfp4gen_progress *progress) {
  (void)user;
  printf("[%u/%u] %s, %s\n", progress->done, progress->total, progress->symbol,
         progress->compiled ? "compiled" : "from the cache");
}

/* A decode step of topk with one index head; a stack takes the fields from its model. */
static size_t make_request(long requests, nvfp4rt_field fields[6]) {
  const nvfp4rt_field step[] = {{"phase", "decode", 0},    {"query_len", NULL, 1},
                                {"requests", NULL, 0},     {"index_heads", NULL, 2},
                                {"block_size", NULL, 128}, {"top_k", NULL, 16}};
  memcpy(fields, step, sizeof(step));
  fields[2].value = requests;
  return sizeof(step) / sizeof(step[0]);
}

/* Does a variant of the bundle serve the request? */
static int serves(const nvfp4rt_bundle *bundle, const char *family, const nvfp4rt_field *fields,
                  size_t count) {
  size_t length = 0;
  int found = 0;
  char *text;
  if (nvfp4rt_explain(bundle, family, fields, count, NULL, 0, &length) != NVFP4RT_OK)
    return 0; /* it has no such family */
  text = malloc(length + 1);
  if (text &&
      nvfp4rt_explain(bundle, family, fields, count, text, length + 1, &length) == NVFP4RT_OK)
    found = strstr(text, ": match\n") != NULL;
  free(text);
  return found;
}

/* Build the spec and open what comes out of it. */
static int build(const char *spec_path, nvfp4rt_bundle **bundle) {
  nvfp4gen_options options;
  nvfp4gen_bundle *built = NULL;
  nvfp4rt_status opened;
  size_t size = 0;
  char *spec = read_file(spec_path, &size);
  if (!spec)
    return die(spec_path, "cannot read it");
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.cache_dir = getenv("NVFP4GEN_CACHE_DIR");
  options.progress = on_progress;
  if (nvfp4gen_build(spec, size, spec_path, &options, &built) != NVFP4GEN_OK) {
    free(spec);
    return die("nvfp4gen_build", nvfp4gen_last_error());
  }
  free(spec);
  printf("built %zu kernels, %zu compiled, %zu bytes\n", nvfp4gen_bundle_kernels(built),
         nvfp4gen_bundle_compiled(built), nvfp4gen_bundle_size(built));
  opened =
      nvfp4rt_bundle_open_memory(nvfp4gen_bundle_data(built), nvfp4gen_bundle_size(built), bundle);
  nvfp4gen_bundle_destroy(built); /* the runtime has a copy */
  return opened == NVFP4RT_OK ? 0 : die("nvfp4rt_bundle_open_memory", nvfp4rt_last_error());
}

int main(int argc, char **argv) {
  nvfp4rt_bundle *bundle = NULL;
  nvfp4rt_plan *plan = NULL;
  nvfp4rt_field fields[6];
  size_t count;
  if (argc < 4)
    return die("usage", "build_at_start SPEC FAMILY REQUESTS [BUNDLE]");
  count = make_request(strtol(argv[3], NULL, 10), fields);

  if (argc > 4) {
    if (nvfp4rt_bundle_open_file(argv[4], &bundle) != NVFP4RT_OK)
      return die("nvfp4rt_bundle_open_file", nvfp4rt_last_error());
    if (!serves(bundle, argv[2], fields, count)) {
      printf("%s has no variant for this step\n", argv[4]);
      if (nvfp4rt_bundle_close(bundle) != NVFP4RT_OK)
        return die("nvfp4rt_bundle_close", nvfp4rt_last_error());
      bundle = NULL;
    }
  }
  if (!bundle && build(argv[1], &bundle) != 0)
    return 1;

  if (nvfp4rt_bundle_load(bundle, 0) != NVFP4RT_OK)
    return die("nvfp4rt_bundle_load", nvfp4rt_last_error());
  if (nvfp4rt_bundle_freeze(bundle) != NVFP4RT_OK)
    return die("nvfp4rt_bundle_freeze", nvfp4rt_last_error());
  /* Serving starts here. */
  if (nvfp4rt_plan_create(bundle, 0, argv[2], fields, count, &plan) != NVFP4RT_OK)
    return die("nvfp4rt_plan_create", nvfp4rt_last_error());
  printf("frozen; %s\n", nvfp4rt_plan_variant(plan));
  nvfp4rt_plan_destroy(plan);
  return nvfp4rt_bundle_close(bundle) == NVFP4RT_OK
             ? 0
             : die("nvfp4rt_bundle_close", nvfp4rt_last_error());
}
